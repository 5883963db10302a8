// /v1/search and /operator/v1/search: one box that takes any id or name and says what it found.

import { type Hit, search } from '../../../operations/deliveries/search.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { SearchText, TextOrNull, Uuid, UuidOrNull } from '../../basics/scalars.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { ownerOf } from '../../requests/authenticate.ts'
import { answer, forClients, forOperators } from '../../schemas/calls.ts'

const properties = {
  id: Uuid,
  name: Type.String({
    description:
      'What people know it by: a name, the address of an endpoint or of where a delivery goes, a payment’s external id, the kind of an event or of a job.',
  }),
  state: TextOrNull('Its state or status, where it has one.'),
  paymentId: UuidOrNull('Of a payment, an event or a delivery.'),
}

const CLIENT_KINDS = ['payment', 'endpoint', 'account', 'event', 'delivery'] as const

export const SearchHit = Type.Object({ kind: Type.Enum([...CLIENT_KINDS]), ...properties })

export const OperatorSearchHit = Type.Object({
  kind: Type.Enum([...CLIENT_KINDS, 'client', 'job']),
  ...properties,
  clientId: TextOrNull('Whose it is; null for a job.'),
  clientName: TextOrNull('Null for a job.'),
})

const Query = Type.Object({
  q: Type.String({
    minLength: 1,
    ...SearchText,
    description:
      'Any id; an external id, exactly; or words of a name or of an address, each perhaps only begun.',
  }),
})

const description =
  'An id is found once. Otherwise up to 8 of each kind, payments first: those with exactly this external id, then names and addresses in which every word of `q` begins a word. Deleted endpoints are found by their id alone.'

export function searchRoutes(deps: Deps): Routes {
  return (app) => {
    app.route({
      method: 'GET',
      url: '/v1/search',
      ...forClients({
        operationId: 'search',
        tags: ['Deliveries'],
        summary: 'Find a payment, an endpoint, an account, an event or a delivery of yours',
        description,
        querystring: Query,
        answers: {
          200: answer('What was found, ids first.', Type.Object({ items: Type.Array(SearchHit) })),
        },
      }),
      handler: async (request) => {
        const hits = await search(deps, request.query.q, ownerOf(request))
        return { items: hits.map(toOwnHit) }
      },
    })
  }
}

export function operatorSearchRoutes(deps: Deps): Routes {
  return (app) => {
    app.route({
      method: 'GET',
      url: '/search',
      ...forOperators('viewer', {
        operationId: 'searchAll',
        summary: 'Find anything by an id or a name',
        description,
        querystring: Query,
        answers: {
          200: answer(
            'What was found, ids first.',
            Type.Object({ items: Type.Array(OperatorSearchHit) }),
          ),
        },
      }),
      handler: async (request) => ({
        items: [...(await search(deps, request.query.q, { clientKey: null, accountId: null }))],
      }),
    })
  }
}

function toOwnHit({ kind, id, name, state, paymentId }: Hit) {
  return { kind: kind as (typeof CLIENT_KINDS)[number], id, name, state, paymentId }
}
