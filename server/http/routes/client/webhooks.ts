// /v1/webhooks: addresses that get one account's payments, and the list of all of a client's endpoints. Registration and
// /list need AccountId; elsewhere it narrows, and a wrong one is refused, too.

import { toPageRequest } from '../../../core/asking/numbered-pages.ts'
import { registerWebhook } from '../../../operations/endpoints/register-webhook.ts'
import { EndpointLists } from '../../../operations/endpoints/view-endpoints.ts'
import { type OwnEndpoint, OwnEndpoints } from '../../../operations/endpoints/view-own-endpoints.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { callerOf, ownerOf, scopeOf } from '../../requests/authenticate.ts'
import { answer, forClients } from '../../schemas/calls.ts'
import { WEBHOOKS } from '../../schemas/endpoint-doors.ts'
import {
  ENDPOINT_KINDS,
  EndpointFilterFields,
  KindSchema,
  type ListedKind,
  readEndpointFilter,
} from '../../schemas/endpoint-list-schema.ts'
import { readSettings, SettingsFields } from '../../schemas/endpoint-settings-schema.ts'
import { PageQuery, pagesOf, toPageBody } from '../../schemas/page.ts'
import {
  CallbackUrl,
  EMPTY_BODY,
  EndpointItem,
  HealthSchema,
  readHref,
  SharedKey,
  toClientHealth,
  toEndpointItem,
} from '../../schemas/schemas.ts'
import { addOneEndpointRoutes } from './one-endpoint.ts'

const Registration = Type.Object(
  { callbackUrl: CallbackUrl, sharedKey: SharedKey, ...SettingsFields },
  {
    examples: [
      {
        callbackUrl: 'https://example.com/paybell',
        sharedKey: 'a-long-random-text-that-only-we-two-know',
      },
    ],
  },
)

export const OwnEndpointQuery = Type.Object({
  ...PageQuery.properties,
  kind: Type.Optional(
    Type.Enum([...ENDPOINT_KINDS, 'any'], {
      default: 'webhook',
      description: 'Which endpoints. With it, each item has its `kind`.',
    }),
  ),
  ...EndpointFilterFields,
  health: Type.Optional(
    Type.Boolean({ default: false, description: 'Whether each item has its `health`.' }),
  ),
})

export const ListedItem = Type.Object({
  ...EndpointItem.properties,
  accountId: Type.Optional(
    Type.String({
      format: 'uuid',
      description:
        'In the list over all accounts. A subscription, which has all of them, has none.',
    }),
  ),
  kind: Type.Optional(KindSchema),
  health: Type.Optional(HealthSchema),
})

const { tags } = WEBHOOKS

export function webhookRoutes(deps: Deps): Routes {
  const lists = new EndpointLists(deps)
  const endpoints = new OwnEndpoints(deps)
  return (app) => {
    app.route({
      method: 'POST',
      url: '/v1/webhooks/register',
      ...forClients(
        {
          operationId: 'registerWebhook',
          isTolerant: true,
          tags,
          summary: 'Register a webhook, or rotate its key',
          description:
            'The same callbackUrl again replaces the key: for 24 hours the old one signs beside it. Settings that are given are replaced too; the others stay as they are.',
          body: Registration,
          answers: {
            200: answer(
              'Registered. The body is empty; list the webhooks to see its id.',
              EMPTY_BODY,
            ),
          },
          problems: ['too-many-endpoints', 'overloaded', 'not-found'],
        },
        'required',
      ),
      handler: async (request, reply) => {
        const { callbackUrl, sharedKey } = request.body
        await registerWebhook(deps, callerOf(request), {
          accountId: request.accountId as string,
          url: callbackUrl,
          href: readHref(callbackUrl),
          sharedKey,
          settings: readSettings(request.body),
        })
        return reply.code(200).send(undefined)
      },
    })

    app.route({
      method: 'GET',
      url: '/v1/webhooks/list',
      ...forClients(
        {
          operationId: 'listWebhooks',
          isTolerant: true,
          tags,
          summary: "List an account's webhooks",
          description: 'Without anything secret: shared keys are never shown again.',
          ...pagesOf(EndpointItem),
        },
        'required',
      ),
      handler: async (request) => {
        const page = await lists.view(scopeOf(request, WEBHOOKS), toPageRequest(request.query))
        return toPageBody(page, toEndpointItem)
      },
    })

    app.route({
      method: 'GET',
      url: '/v1/webhooks',
      ...forClients({
        operationId: 'listAllWebhooks',
        tags,
        summary: 'List your endpoints: of one account, or of all',
        description:
          'Webhooks, unless `kind` says otherwise: the same page as `/v1/webhooks/list`. Without `AccountId` it has those of all your accounts, each with its `accountId`; with it, subscriptions are listed too if `kind` asks for them, because they get its payments. The `endpointUrl` of a listener is `listener:` and its name. The oldest come first, unless `sort` says otherwise. `health.pending` counts up to 10,000 here, and exactly on a single endpoint.',
        ...pagesOf(ListedItem, 'One page.'),
        querystring: OwnEndpointQuery,
      }),
      handler: async (request) => {
        const { kind, health: hasHealth = false } = request.query
        const filter = {
          ...readEndpointFilter(request.query),
          kind: kind === 'any' ? null : (kind ?? WEBHOOKS.kind),
        }
        const page = await endpoints.view(ownerOf(request), filter, toPageRequest(request.query), {
          hasHealth,
        })
        const hasAccount = request.accountId === null
        return toPageBody(page, (item) =>
          toListedItem(item, { hasAccount, hasKind: kind !== undefined }),
        )
      },
    })

    addOneEndpointRoutes(app, deps, WEBHOOKS, {
      item: EndpointItem,
      toItem: toEndpointItem,
    })
  }
}

function toListedItem(
  { endpoint, health }: OwnEndpoint,
  { hasAccount, hasKind }: { hasAccount: boolean; hasKind: boolean },
) {
  return {
    ...toEndpointItem(endpoint),
    ...(hasAccount && endpoint.accountId !== null ? { accountId: endpoint.accountId } : {}),
    // No client has one of another kind (store/endpoints/internal-endpoints).
    ...(hasKind ? { kind: endpoint.kind as ListedKind } : {}),
    ...(health === null ? {} : { health: toClientHealth(health) }),
  }
}
