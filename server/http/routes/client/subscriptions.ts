// /api/v1/payments/subscribe and the subscriptions it makes: addresses that get every payment of a client,
// whatever its account.

import { toPageRequest } from '../../../core/asking/numbered-pages.ts'
import { subscribe } from '../../../operations/endpoints/subscribe.ts'
import { EndpointLists } from '../../../operations/endpoints/view-endpoints.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { sendJsonText } from '../../answers/stored-json.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { callerOf, scopeOf } from '../../requests/authenticate.ts'
import { answer, forClients } from '../../schemas/calls.ts'
import { SUBSCRIPTIONS } from '../../schemas/endpoint-doors.ts'
import { readSettings, SettingsFields } from '../../schemas/endpoint-settings-schema.ts'
import { pagesOf, toPageBody } from '../../schemas/page.ts'
import { PaymentSchema } from '../../schemas/payment-schema.ts'
import {
  CallbackUrl,
  EndpointItem,
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

const { path: PATH, tags } = SUBSCRIPTIONS

export function subscriptionRoutes(deps: Deps): Routes {
  const lists = new EndpointLists(deps)
  return (app) => {
    app.route({
      method: 'POST',
      url: '/api/v1/payments/subscribe',
      ...forClients({
        operationId: 'subscribe',
        isTolerant: true,
        tags,
        summary: 'Subscribe to updates of all payments',
        description:
          'Answers with your most recently changed payment, or with a sample. The same callbackUrl again replaces the key and the header of that subscription, and the settings that are given.',
        body: Subscription,
        answers: {
          201: answer(
            'Subscribed. `Location` is its address; the body shows the shape of a callback.',
            PaymentSchema,
          ),
        },
        problems: ['too-many-endpoints', 'overloaded', 'not-found'],
      }),
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
        reply.code(201).header('location', `${PATH}/${id}`)
        return sendJsonText(reply, paymentText)
      },
    })

    app.route({
      method: 'GET',
      url: PATH,
      ...forClients({
        operationId: 'listSubscriptions',
        tags,
        summary: 'List your subscriptions',
        description:
          'Without anything secret: shared keys and header values are never shown again.',
        ...pagesOf(EndpointItem),
      }),
      handler: async (request) => {
        const page = await lists.view(scopeOf(request, SUBSCRIPTIONS), toPageRequest(request.query))
        return toPageBody(page, toEndpointItem)
      },
    })

    addOneEndpointRoutes(app, deps, SUBSCRIPTIONS, {
      item: EndpointItem,
      toItem: toEndpointItem,
    })
  }
}
