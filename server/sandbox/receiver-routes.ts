// /sandbox/receiver/{name}: an address to deliver to, for developers who have none yet. Only in the sandbox.
// POST needs no credential, as for any receiver; writing the script and reading requests needs an operator key.

import { setTimeout as delay } from 'node:timers/promises'
import { CALLBACK_URL_CHARACTERS_MAX } from '../core/network/callback-url.ts'
import { PAYMENT_BODY_BYTES_MAX } from '../core/payments/payment.ts'
import type { Clock } from '../core/plain/clock.ts'
import { SHARED_KEY_CHARACTERS_MAX } from '../core/signatures/shared-key.ts'
import { Type } from '../http/basics/type.ts'
import type { App, Routes } from '../http/basics/typed.ts'
import { authenticateOperator } from '../http/requests/authenticate.ts'
import { forAnyone, forOperators } from '../http/schemas/calls.ts'
import { EMPTY_BODY } from '../http/schemas/schemas.ts'
import type { OperatorKeys } from '../operations/access/live-operator-keys.ts'
import { notFound } from '../operations/shared/service-errors.ts'
import type { DemoReceivers } from './demo-receivers.ts'

const URL_PATTERN = '/sandbox/receiver/:name'
const NAME = /^[\w-]{1,64}$/
const STEPS_MAX = 100
const DELAY_MS_MAX = 20_000
const tags = ['Sandbox']

/** The body of an answer, as the script has it. */
const SCRIPTED = { 'text/plain': { schema: Type.String() } }

const params = Type.Object({
  name: Type.String({ description: '1 to 64 letters, digits, _ and -' }),
})

const Script = Type.Object(
  {
    script: Type.Optional(
      Type.Array(Type.Integer({ minimum: 200, maximum: 599 }), {
        minItems: 1,
        maxItems: STEPS_MAX,
        description: 'The statuses to answer, in turn; the last one goes on. By default [200].',
      }),
    ),
    delayMs: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: DELAY_MS_MAX,
        description: 'How long each answer waits.',
      }),
    ),
    body: Type.Optional(Type.String({ maxLength: 4_096, description: 'The body of each answer.' })),
    redirectTo: Type.Optional(
      Type.String({
        maxLength: CALLBACK_URL_CHARACTERS_MAX,
        pattern: '^[!-~]+$',
        description: 'Sent as Location: with a 3xx, to see that redirects are not followed.',
      }),
    ),
    sharedKey: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: SHARED_KEY_CHARACTERS_MAX,
        description: 'The key of the webhook: then what comes says whether its signature is valid.',
      }),
    ),
  },
  { examples: [{ script: [500, 500, 200], sharedKey: 'demo-shared-key' }] },
)

export const View = Type.Object({
  name: Type.String(),
  script: Type.Array(Type.Integer()),
  delayMs: Type.Integer(),
  body: Type.String(),
  redirectTo: Type.Union([Type.String(), Type.Null()]),
  count: Type.Integer({ description: 'How many came in all.' }),
  received: Type.Array(
    Type.Object({
      at: Type.Unsafe<Date>({ type: 'string', format: 'date-time' }),
      status: Type.Integer({ description: 'What was answered.' }),
      headers: Type.Record(Type.String(), Type.String()),
      body: Type.String({ description: 'The first 8 KiB.' }),
      bodyBytes: Type.Integer(),
      signatureValid: Type.Union([Type.Boolean(), Type.Null()]),
    }),
    { description: 'The latest 100, newest first.' },
  ),
})

const Answer = Type.Object(View.properties, {
  description: 'The script, and what the receiver got.',
})

export function sandboxReceiverRoutes(
  receivers: DemoReceivers,
  keys: OperatorKeys,
  clock: Clock,
): Routes {
  return async (app) => {
    await app.register(async (scope: App) => addReceiving(scope, receivers, clock))
    await app.register(async (scope: App) => addScripting(scope, receivers, keys))
  }
}

/** Accepts any content type: a strict receiver would hide what was sent. */
function addReceiving(app: App, receivers: DemoReceivers, clock: Clock): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes))
  app.route({
    method: 'POST',
    url: URL_PATTERN,
    bodyLimit: PAYMENT_BODY_BYTES_MAX,
    ...forAnyone({
      operationId: 'receiveInSandbox',
      tags,
      summary: 'A receiver to try things with (sandbox only)',
      description:
        'Answers by its script, 200 by default, and remembers what came. A script may have any status from 200 to 599.',
      params,
      answers: {
        200: { description: 'What it answers without a script.', content: SCRIPTED },
        default: { description: 'Any other status of its script.', content: SCRIPTED },
      },
      problems: ['body-too-large'],
    }),
    handler: async (request, reply) => {
      const { body: sent, headers } = request
      const bytes = Buffer.isBuffer(sent) ? sent : Buffer.alloc(0)
      const name = readName(request.params.name)
      const answer = receivers.receive(name, { headers, body: bytes }, clock.nowMs())
      if (answer.delayMs > 0) await delay(answer.delayMs, undefined, { ref: false })
      if (answer.redirectTo !== null) reply.header('location', answer.redirectTo)
      return reply.code(answer.status).type('text/plain; charset=utf-8').send(answer.body)
    },
  })
}

function addScripting(app: App, receivers: DemoReceivers, keys: OperatorKeys): void {
  app.addHook('onRequest', authenticateOperator(keys))
  const security = [{ operatorKey: [] }]

  app.route({
    method: 'PUT',
    url: URL_PATTERN,
    ...forOperators('admin', {
      operationId: 'scriptSandboxReceiver',
      tags,
      summary: 'Write what a receiver answers (sandbox only)',
      description: 'The script starts over; what came so far stays.',
      security,
      params,
      body: Script,
      answers: {
        200: Answer,
      },
    }),
    handler: async (request) => {
      const { script, delayMs, body, redirectTo, sharedKey } = request.body
      return receivers.write(readName(request.params.name), {
        script: script ?? [200],
        delayMs: delayMs ?? 0,
        body: body ?? '',
        redirectTo: redirectTo ?? null,
        sharedKey: sharedKey ?? null,
      }) as never
    },
  })

  app.route({
    method: 'GET',
    url: URL_PATTERN,
    ...forOperators('viewer', {
      operationId: 'viewSandboxReceiver',
      tags,
      summary: 'See what a receiver got (sandbox only)',
      description: 'Its script, how many requests came, and the latest 100 of them.',
      security,
      params,
      answers: { 200: Answer },
    }),
    handler: async (request) => receivers.view(readName(request.params.name)) as never,
  })

  app.route({
    method: 'DELETE',
    url: URL_PATTERN,
    ...forOperators('admin', {
      operationId: 'resetSandboxReceiver',
      tags,
      summary: 'Forget a receiver: its script and what came (sandbox only)',
      description: 'From then on it answers 200 again.',
      security,
      params,
      answers: {
        204: EMPTY_BODY,
      },
    }),
    handler: async (request, reply) => {
      receivers.reset(readName(request.params.name))
      return reply.code(204).send(undefined)
    },
  })
}

function readName(text: string): string {
  if (!NAME.test(text)) throw notFound()
  return text
}
