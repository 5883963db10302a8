// /v1/webhooks: addresses that get one account's payments. Registration and list need AccountId; elsewhere it
// narrows, and a wrong one is refused, too.

import type { FastifyRequest } from 'fastify'
import { toPageRequest } from '../../../core/asking/numbered-pages.ts'
import type { Endpoint } from '../../../core/delivery/endpoint.ts'
import { registerWebhook } from '../../../operations/endpoints/register-webhook.ts'
import { EndpointLists } from '../../../operations/endpoints/view-endpoints.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { callerOf } from '../../requests/authenticate.ts'
import { readSettings, SettingsFields } from '../../schemas/endpoint-settings-schema.ts'
import { PageOf, PageQuery, toPageBody } from '../../schemas/page.ts'
import {
  AccountHeader,
  BODY_PROBLEMS,
  CallbackUrl,
  CLIENT_PROBLEMS,
  EMPTY_BODY,
  EndpointItem,
  OptionalAccountHeader,
  problemResponses,
  readHref,
  SharedKey,
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

export const ItemWithAccount = Type.Object({
  ...EndpointItem.properties,
  accountId: Type.Optional(
    Type.String({ format: 'uuid', description: 'In the list over all accounts.' }),
  ),
})

const tags = ['Webhook endpoints']

export function webhookRoutes(deps: Deps): Routes {
  const lists = new EndpointLists(deps)
  return (app) => {
    app.route({
      method: 'POST',
      url: '/v1/webhooks/register',
      config: { account: 'required' },
      schema: {
        operationId: 'registerWebhook',
        tags,
        summary: 'Register a webhook, or rotate its key',
        description:
          'The same callbackUrl again replaces the key: for 24 hours the old one signs beside it. Settings that are given are replaced too; the others stay as they are.',
        headers: AccountHeader,
        body: Registration,
        response: {
          200: EMPTY_BODY,
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
      config: { account: 'required' },
      schema: {
        operationId: 'listWebhooks',
        tags,
        summary: "List an account's webhooks",
        headers: AccountHeader,
        querystring: PageQuery,
        response: {
          200: PageOf(EndpointItem),
          ...problemResponses(...CLIENT_PROBLEMS, 'invalid-account', 'invalid-query'),
        },
      },
      handler: async (request) => {
        const page = await lists.view(scopeOf(request), toPageRequest(request.query))
        return toPageBody(page, toEndpointItem)
      },
    })

    app.route({
      method: 'GET',
      url: '/v1/webhooks',
      config: { account: 'optional' },
      schema: {
        operationId: 'listAllWebhooks',
        tags,
        summary: 'List the webhooks of one account, or of all your accounts',
        headers: OptionalAccountHeader,
        querystring: PageQuery,
        response: {
          200: PageOf(ItemWithAccount),
          ...problemResponses(...CLIENT_PROBLEMS, 'invalid-account', 'invalid-query'),
        },
      },
      handler: async (request) => {
        const page = await lists.view(scopeOf(request), toPageRequest(request.query))
        return toPageBody(page, request.accountId === null ? toItemWithAccount : toEndpointItem)
      },
    })

    addOneEndpointRoutes(app, deps, {
      path: '/v1/webhooks',
      name: 'Webhook',
      tags,
      item: EndpointItem,
      toItem: toEndpointItem,
      scopeOf,
      hasSettings: true,
    })
  }
}

function scopeOf(request: FastifyRequest) {
  const { clientKey } = callerOf(request)
  return { clientKey, kind: 'webhook', accountId: request.accountId } as const
}

function toItemWithAccount(endpoint: Endpoint) {
  return { ...toEndpointItem(endpoint), accountId: endpoint.accountId ?? undefined }
}
