// /v1/notices: where a client gets notices about its own endpoints.

import { DELIVERY_STATES } from '../../../core/delivery/delivery.ts'
import { ENDPOINT_STATUSES } from '../../../core/delivery/endpoint.ts'
import { CLIENT_NOTICE_KINDS } from '../../../core/delivery/notice.ts'
import {
  type ClientNotices,
  deleteClientNotices,
  putClientNotices,
  viewClientNotices,
} from '../../../operations/clients/client-notices.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { Instant, InstantOrNull, TextOrNull, Uuid } from '../../basics/scalars.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { callerOf } from '../../requests/authenticate.ts'
import { answer, forClients } from '../../schemas/calls.ts'
import { CallbackUrl, EMPTY_BODY, readHref, SharedKey } from '../../schemas/schemas.ts'

const NullableText = TextOrNull()

/** The body of a notice. */
export const NoticeSchema = Type.Object({
  type: Type.Enum([...CLIENT_NOTICE_KINDS]),
  endpoint: Type.Object({
    id: Uuid,
    kind: Type.String(),
    accountId: NullableText,
    endpointUrl: Type.String({ description: 'Without its query.' }),
    status: Type.Enum([...ENDPOINT_STATUSES]),
    failingSince: InstantOrNull(),
    lastSuccessAt: InstantOrNull(),
    lastError: NullableText,
    pending: Type.Integer(),
    exhaustedTotal: Type.Integer(),
  }),
  exhausted: Type.Optional(
    Type.Integer({ description: 'Deliveries that were given up since the last such notice.' }),
  ),
  reasons: TextOrNull('Why attempts failed in the last hour, in words.'),
  at: Instant,
})

export const NoticesSchema = Type.Object(
  {
    callbackUrl: Type.String(),
    status: Type.Enum([...ENDPOINT_STATUSES], {
      description:
        'DISABLED after 7 days of nothing but failures; give the address again to resume.',
    }),
    recent: Type.Array(
      Type.Object({
        notice: NoticeSchema,
        state: Type.Enum([...DELIVERY_STATES]),
        attempts: Type.Integer(),
      }),
      { description: 'The newest 20, newest first.' },
    ),
  },
  {
    examples: [{ callbackUrl: 'https://example.com/notices', status: 'ACTIVE', recent: [] }],
  },
)

const NoticesBody = Type.Object(
  { callbackUrl: CallbackUrl, sharedKey: SharedKey },
  {
    examples: [
      {
        callbackUrl: 'https://example.com/notices',
        sharedKey: 'a-long-random-text-that-only-we-two-know',
      },
    ],
  },
)

const url = '/v1/notices'
const tags = ['Notices']

export function noticeRoutes(deps: Deps): Routes {
  return (app) => {
    app.route({
      method: 'PUT',
      url,
      ...forClients({
        operationId: 'putNotices',
        tags,
        summary: 'Say where to send notices about your endpoints',
        description:
          'One address for each client. It is notified, signed as callbacks are, when an endpoint of yours has been failing for an hour, will be disabled in 24 hours, was disabled or has recovered, and at most once an hour when deliveries were given up. Given again, the address is moved and the key rotated; a disabled one is resumed. It makes no notices about itself.',
        body: NoticesBody,
        answers: { 200: answer('Where notices go from now on.', NoticesSchema) },
        problems: ['overloaded'],
      }),
      handler: async (request) => {
        const { callbackUrl, sharedKey } = request.body
        readHref(callbackUrl)
        const to = { url: callbackUrl, key: sharedKey }
        return toBody(await putClientNotices(deps, callerOf(request), to))
      },
    })

    app.route({
      method: 'GET',
      url,
      ...forClients({
        operationId: 'getNotices',
        tags,
        summary: 'Where notices go, and the newest of them',
        description: 'The newest 20 notices are shown with the state of their deliveries.',
        answers: { 200: answer('The address and its newest notices.', NoticesSchema) },
        problems: ['not-found'],
      }),
      handler: async (request) => toBody(await viewClientNotices(deps, callerOf(request).clientId)),
    })

    app.route({
      method: 'DELETE',
      url,
      ...forClients({
        operationId: 'deleteNotices',
        tags,
        summary: 'Get no more notices',
        description: 'What is still on its way is cancelled.',
        answers: { 204: answer('Deleted.', EMPTY_BODY) },
        problems: ['not-found', 'overloaded'],
      }),
      handler: async (request, reply) => {
        await deleteClientNotices(deps, callerOf(request))
        return reply.code(204).send(undefined)
      },
    })
  }
}

function toBody({ endpoint, recent }: ClientNotices) {
  return {
    callbackUrl: endpoint.url,
    status: endpoint.status,
    recent: recent.map(({ text, state, attempts }) => ({
      notice: JSON.parse(text),
      state,
      attempts,
    })),
  }
}
