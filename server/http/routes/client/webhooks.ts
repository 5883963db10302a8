// /v1/webhooks: addresses that get one account's payments. Registration and list need AccountId; elsewhere it
// narrows, and a wrong one is refused, too.

import { toPageRequest } from '../../../core/asking/numbered-pages.ts'
import type { Endpoint } from '../../../core/delivery/endpoint.ts'
import { registerWebhook } from '../../../operations/endpoints/register-webhook.ts'
import { EndpointLists } from '../../../operations/endpoints/view-endpoints.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { callerOf, scopeOf } from '../../requests/authenticate.ts'
import { answer, forClients } from '../../schemas/calls.ts'
import { WEBHOOKS } from '../../schemas/endpoint-doors.ts'
import { readSettings, SettingsFields } from '../../schemas/endpoint-settings-schema.ts'
import { pagesOf, toPageBody } from '../../schemas/page.ts'
import {
  CallbackUrl,
  EMPTY_BODY,
  EndpointItem,
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

const { tags } = WEBHOOKS

export function webhookRoutes(deps: Deps): Routes {
  const lists = new EndpointLists(deps)
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
        summary: 'List the webhooks of one account, or of all your accounts',
        description:
          'The same page as `/v1/webhooks/list`. Without `AccountId` it has the webhooks of all your accounts, each with its `accountId`.',
        ...pagesOf(ItemWithAccount),
      }),
      handler: async (request) => {
        const page = await lists.view(scopeOf(request, WEBHOOKS), toPageRequest(request.query))
        return toPageBody(page, request.accountId === null ? toItemWithAccount : toEndpointItem)
      },
    })

    addOneEndpointRoutes(app, deps, WEBHOOKS, {
      item: EndpointItem,
      toItem: toEndpointItem,
    })
  }
}

function toItemWithAccount(endpoint: Endpoint) {
  return { ...toEndpointItem(endpoint), accountId: endpoint.accountId ?? undefined }
}
