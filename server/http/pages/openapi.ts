// GET /openapi.json: the interface as OpenAPI 3.1, made of the same schemas that requests are checked with,
// and with a `webhooks` section for what this service sends.

import swagger from '@fastify/swagger'
import type { FastifyReply } from 'fastify'
import { EVENT_KINDS } from '../../core/payments/payment.ts'
import { Remembered } from '../../core/plain/remembered.ts'
import { KEY_ID_HEADER } from '../../core/signatures/asymmetric-signature.ts'
import { HMAC_HEADER } from '../../core/signatures/callback-headers.ts'
import { type KeptFile, keepFile, sendKept } from '../answers/kept-file.ts'
import { type PublishingPolicy, publishRequest } from '../basics/published.ts'
import type { App } from '../basics/typed.ts'
import { HIDDEN } from '../schemas/calls.ts'
import { CallbackSchema, callbackExamples } from '../schemas/payment-schema.ts'
import { ProblemSchema } from '../schemas/schemas.ts'

/** Call before any route: the plugin sees only routes that are added after it. */
export async function describeInterface(
  app: App,
  baseUrl: () => string,
  policy: PublishingPolicy,
): Promise<void> {
  app.addSchema({ ...ProblemSchema, $id: 'Problem' })
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Paybell',
        version: '1',
        description:
          'Tells clients, reliably, that a payment has changed. Get a token, register a webhook or subscribe, and receive every change of your payments as a signed POST, in order, retried for up to 7 days.\n\nSee also: [guides](/guides/), [problems](/problems), [console](/console).',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      tags: [
        {
          name: 'Tokens',
          description: 'Access tokens for client credentials, and their public keys.',
        },
        // "Webhooks" is what viewers call the section of what this service sends.
        {
          name: 'Webhook endpoints',
          description: 'Addresses that get the payments of one account.',
        },
        {
          name: 'Subscriptions',
          description: 'Addresses that get the payments of all your accounts.',
        },
        {
          name: 'Listeners',
          description:
            'Endpoints whose callbacks are fetched, for receivers that cannot be called.',
        },
        { name: 'Notices', description: 'Where you get notices about your own endpoints.' },
        { name: 'Events', description: 'The same events that callbacks carry, to be pulled.' },
        {
          name: 'Deliveries',
          description: 'Your deliveries: their state, their attempts, replays.',
        },
        { name: 'Payments', description: 'Your payments as they are now.' },
        { name: 'Payments in', description: 'Where the operator writes payments.' },
        {
          name: 'Operator',
          description: 'Clients, keys, endpoints, deliveries and the audit, for the operator.',
        },
        { name: 'Console', description: 'Signing in at the pages under /console, and out.' },
        { name: 'Housekeeping', description: 'Health, readiness and metrics of a process.' },
      ],
      externalDocs: { url: '/guides/', description: 'Guides' },
      security: [{ accessToken: [] }],
      components: {
        securitySchemes: {
          accessToken: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'JWT',
            description: 'A token from POST /auth/token.',
          },
          operatorKey: {
            type: 'http',
            scheme: 'bearer',
            description: 'An operator’s key. Its role decides what it may do.',
          },
        },
      },
      webhooks: { payment: { post: paymentCallback() } },
    },
    refResolver: {
      buildLocalReference: (json, _baseUri, _fragment, at) =>
        json.$id ? String(json.$id) : `def-${at}`,
    },
    transformObject: (document) => {
      const { openapiObject } = document as { openapiObject: Document }
      const { paths = {}, tags = [] } = openapiObject
      const hasSandbox = Object.keys(paths).some((path) => path.startsWith('/sandbox/'))
      return hasSandbox ? { ...openapiObject, tags: [...tags, SANDBOX_TAG] } : openapiObject
    },
    transform: ({ schema, url }) => {
      // Routes of other plugins have none.
      const published = publishRequest(schema ?? {}, policy)
      if (!url.startsWith('/operator/')) return { schema: published, url }
      return { schema: { tags: ['Operator'], security: [{ operatorKey: [] }], ...published }, url }
    },
  })
  const documents = new Remembered<string, KeptFile>({ keysMax: 1 })
  app.get('/openapi.json', HIDDEN, async (request, reply) => {
    // The address is known only once the service listens.
    const url = baseUrl()
    const document = await documents.get(url, () =>
      keepFile(JSON.stringify({ ...app.swagger(), servers: [{ url }] })),
    )
    return sendKept(request, reply as FastifyReply, document, {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-cache',
    })
  })
}

interface Document {
  paths?: Record<string, never>
  tags?: { name: string; description?: string }[]
}

/** A sandbox hands its own routes in. */
const SANDBOX_TAG = {
  name: 'Sandbox',
  description: 'A receiver inside: only where you try things out.',
}

const CALLBACK_HEADERS = [
  [
    HMAC_HEADER,
    'Lower-case hex HMAC-SHA-256 over the exact body, keyed with sharedKey.',
    '6990777c822d21d78c253cc0ed2bf83bb5ba6fceb61e8829f60887e7bb3e4ca1',
  ],
  [
    'webhook-id',
    'The id of the event, the same on every retry and replay: deduplicate by it.',
    '01a1de8b-3a40-7000-83de-2166a587a47e',
  ],
  ['webhook-timestamp', 'Unix seconds of this attempt.', '1794735000'],
  [
    'webhook-signature',
    'Standard Webhooks signature, v1; two of them after a key rotation, and v1a for endpoints with ed25519.',
    'v1,vERSEo7LWtS1zU2dXNWOMDJ1mtO3IQlSa6ZitsJNJQE=',
  ],
  ['X-Paybell-Event', 'The kind of event.', 'payment.due'],
  ['X-Paybell-Sequence', 'The number of the event within its payment: 1, 2, 3 …', '3'],
  ['X-Paybell-Attempt', 'The number of this attempt: 1, 2, 3 …', '1'],
] as const

const OCCASIONAL_HEADERS = [
  [
    KEY_ID_HEADER,
    'For endpoints with ed25519: the id of the key in /.well-known/webhook-keys.json that made v1a.',
    '019a8f6e-1c2d-7a3b-8c4d-5e6f70819204',
  ],
  [
    'X-Paybell-Hmac-Previous',
    'For 24 h after a key rotation: the HMAC under the old key.',
    '1f5d0d0f7d1f4b0c0d1d0a3b6b0f3f7e1c9a2b8d4e6f7a8b9c0d1e2f3a4b5c6d',
  ],
  ['X-Paybell-Test', 'true on test sends, and only there: the payment is a sample.', 'true'],
  [
    'X-Paybell-Replay',
    'true on replays, and only there: it was requested, so it keeps no order.',
    'true',
  ],
  ['traceparent', 'W3C trace context.', '00-01a1de8b3a40700083de2166a587a47e-2166a587a47e0001-01'],
] as const

function paymentCallback() {
  const toParameter = (required: boolean) => (header: readonly [string, string, string]) => ({
    name: header[0],
    in: 'header' as const,
    required,
    description: header[1],
    example: header[2],
    schema:
      header[0] === 'X-Paybell-Event'
        ? { type: 'string' as const, enum: [...EVENT_KINDS] }
        : { type: 'string' as const },
  })
  return {
    operationId: 'paymentCallback',
    summary: 'A payment has changed',
    description:
      'Sent to every endpoint that exists when the payment changes, in order for each payment. Verify the signature over the raw body before anything else.',
    security: [],
    parameters: [
      ...CALLBACK_HEADERS.map(toParameter(true)),
      ...OCCASIONAL_HEADERS.map(toParameter(false)),
    ],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: { ...CallbackSchema } as Record<string, unknown>,
          examples: callbackExamples(),
        },
      },
    },
    responses: {
      200: { description: 'Taken. Only 200 is success.' },
      default: {
        description:
          'Everything else, a 204 or a redirect too, is retried with growing delays for up to 7 days.',
      },
    },
  }
}
