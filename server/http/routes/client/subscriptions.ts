// /api/v1/payments/subscribe and the subscriptions it makes: addresses that get every payment of a client,
// whatever its account.

import type { FastifyRequest } from 'fastify'
import { toPageRequest } from '../../../core/asking/numbered-pages.ts'
import { subscribe } from '../../../operations/endpoints/subscribe.ts'
import { EndpointLists } from '../../../operations/endpoints/view-endpoints.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { callerOf } from '../../requests/authenticate.ts'
import { readSettings, SettingsFields } from '../../schemas/endpoint-settings-schema.ts'
import { pagesOf, toPageBody } from '../../schemas/page.ts'
import { PaymentSchema } from '../../schemas/payment-schema.ts'
import {
  BODY_PROBLEMS,
  CallbackUrl,
  CLIENT_PROBLEMS,
  EndpointItem,
  OptionalAccountHeader,
  problemResponses,
  readHref,
  SharedKey,
  toEndpointItem,
} from '../../schemas/schemas.ts'
import { addOneEndpointRoutes } from './one-endpoint.ts'

const Subscription = Type.Object(
  {
    callbackUrl: CallbackUrl,
    sharedKey: SharedKey,
    headerKey: Type.Optional(
      Type.String({
        format: 'header-key',
        description: 'Name of a header that every callback carries; needs headerValue.',
      }),
    ),
    headerValue: Type.Optional(
      Type.String({
        format: 'header-value',
        description: 'Its value: 1 to 1024 printable ASCII characters. It is never shown again.',
      }),
    ),
    ...SettingsFields,
  },
  {
    dependentRequired: { headerKey: ['headerValue'], headerValue: ['headerKey'] },
    examples: [
      {
        callbackUrl: 'https://example.com/paybell',
        sharedKey: 'a-long-random-text-that-only-we-two-know',
        headerKey: 'Authorization',
        headerValue: 'Basic cGF5YmVsbDpzZWNyZXQ=',
      },
    ],
  },
)

const PATH = '/api/v1/payments/subscriptions'
const tags = ['Subscriptions']

export function subscriptionRoutes(deps: Deps): Routes {
  const lists = new EndpointLists(deps)
  return (app) => {
    app.route({
      method: 'POST',
      url: '/api/v1/payments/subscribe',
      config: { account: 'optional' },
      schema: {
        operationId: 'subscribe',
        tags,
        summary: 'Subscribe to updates of all payments',
        description:
          'Answers with your most recently changed payment, or with a sample. The same callbackUrl again replaces the key and the header of that subscription, and the settings that are given.',
        headers: OptionalAccountHeader,
        body: Subscription,
        response: {
          201: PaymentSchema,
          ...problemResponses(
            ...CLIENT_PROBLEMS,
            ...BODY_PROBLEMS,
            'invalid-account',
            'too-many-endpoints',
            'overloaded',
          ),
        },
      },
      handler: async (request, reply) => {
        const { callbackUrl, sharedKey, headerKey, headerValue } = request.body
        const { id, paymentText } = await subscribe(deps, callerOf(request), {
          url: callbackUrl,
          href: readHref(callbackUrl),
          sharedKey,
          header:
            headerKey === undefined || headerValue === undefined
              ? null
              : { name: headerKey, value: headerValue },
          settings: readSettings(request.body),
        })
        // The stored text, unparsed: parsing would lose the digits of the amount.
        return reply
          .code(201)
          .header('location', `${PATH}/${id}`)
          .header('content-type', 'application/json; charset=utf-8')
          .send(paymentText as never)
      },
    })

    app.route({
      method: 'GET',
      url: PATH,
      config: { account: 'optional' },
      schema: {
        operationId: 'listSubscriptions',
        tags,
        summary: 'List your subscriptions',
        headers: OptionalAccountHeader,
        ...pagesOf(EndpointItem, ...CLIENT_PROBLEMS, 'invalid-account'),
      },
      handler: async (request) => {
        const page = await lists.view(scopeOf(request), toPageRequest(request.query))
        return toPageBody(page, toEndpointItem)
      },
    })

    addOneEndpointRoutes(app, deps, {
      path: PATH,
      name: 'Subscription',
      tags,
      item: EndpointItem,
      toItem: toEndpointItem,
      scopeOf,
      hasSettings: true,
    })
  }
}

/** A subscription belongs to the client as a whole: no account narrows it. */
function scopeOf(request: FastifyRequest) {
  const { clientKey } = callerOf(request)
  return { clientKey, kind: 'subscription', accountId: null } as const
}
