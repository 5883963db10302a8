// /operator/v1/payments: accepts payment changes, one by one or as lines of NDJSON. The answer waits until the
// change, its event and all its deliveries are on disk.

import { Readable } from 'node:stream'
import { setImmediate as pause } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest, FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import { EVENT_KINDS, PAYMENT_BODY_BYTES_MAX } from '../../../core/payments/payment.ts'
import { parsePayment } from '../../../core/payments/payment-fields.ts'
import { ServiceError } from '../../../core/plain/errors.ts'
import { type ParsedJson, parseJsonInSteps } from '../../../core/plain/exact-json.ts'
import { isUuid } from '../../../core/plain/uuid.ts'
import type { PaymentGatherer, Submitter } from '../../../operations/accepting/payment-gatherer.ts'
import {
  type LargeLines,
  LINE_LIMITS,
  type LineResult,
  recordLines,
} from '../../../operations/accepting/record-lines.ts'
import {
  type RecordedPayment,
  unknownAccount,
} from '../../../operations/accepting/record-payments.ts'
import type { AccountDirectory } from '../../../operations/access/account-directory.ts'
import {
  finishBatchAudit,
  toAuditEntry,
  toBatchAudit,
} from '../../../operations/shared/audit-trail.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { toServiceError } from '../../../operations/shared/service-errors.ts'
import { trailOf } from '../../answers/audit.ts'
import { readFileAhead } from '../../answers/large-files.ts'
import { onlyHeaderValue } from '../../basics/header-values.ts'
import { LARGE_BYTES_MIN, type LargeWork } from '../../basics/large-work.ts'
import { toProblem } from '../../basics/problems.ts'
import { UuidOrNull } from '../../basics/scalars.ts'
import { Type } from '../../basics/type.ts'
import type { App, Routes } from '../../basics/typed.ts'
import { bePatientWith, readPatiently } from '../../requests/patient-body.ts'
import {
  ABOUT_CLIENT,
  answer,
  forOperators,
  OPERATOR_PROBLEMS,
  problemResponses,
} from '../../schemas/calls.ts'
import { LineWriteSchema, PaymentSchema, PaymentWriteSchema } from '../../schemas/payment-schema.ts'
import { IdParams, ProblemSchema, readId } from '../../schemas/schemas.ts'

export interface PaymentRoutesDeps extends Deps {
  baseUrl(): string
  gatherer: Pick<PaymentGatherer, 'enter'>
  accounts: AccountDirectory
}

/** The result of a write; `event` is null when nothing has changed. */
const written = {
  event: Type.Unsafe<unknown>({
    type: ['object', 'null'],
    properties: {
      id: Type.String({ format: 'uuid', description: 'The `webhook-id` of its callbacks.' }),
      type: Type.Enum([...EVENT_KINDS]),
      sequence: Type.Integer(),
    },
    required: ['id', 'type', 'sequence'],
    description: 'Null when nothing has changed.',
  }),
  stale: Type.Optional(
    Type.Boolean({ description: 'true, only when the version is not above the stored one.' }),
  ),
}
export const WrittenSchema = Type.Object({ payment: PaymentSchema, ...written })

/** One line of the answer, with either an event or a problem. */
export const LineSchema = Type.Object({
  line: Type.Integer({ description: 'From 1.' }),
  id: UuidOrNull(),
  event: Type.Optional(written.event),
  stale: written.stale,
  problem: Type.Optional(ProblemSchema),
})

const JSON_TYPE = 'application/json; charset=utf-8'
const NDJSON_TYPE = 'application/x-ndjson'
const tags = ['Payments in']
const LINES_IN_A_CHUNK = 200

export function operatorPaymentRoutes(deps: PaymentRoutesDeps, work: LargeWork): Routes {
  const large: LargeLines = { bytesMin: LARGE_BYTES_MIN, read: (bytes) => readLarge(bytes, work) }
  return (app) => {
    app.addContentTypeParser(NDJSON_TYPE, (_request, payload, done) => done(null, payload))

    app.route({
      method: 'PUT',
      url: '/payments/:id',
      bodyLimit: PAYMENT_BODY_BYTES_MAX,
      ...forOperators('ingest', {
        operationId: 'putPayment',
        tags,
        summary: 'Write a payment as it is now',
        description:
          'The whole payment each time. The answer is given when the change, its event and all its deliveries are on disk.',
        headers: Type.Object({ AccountId: Type.String({ format: 'uuid' }) }),
        params: IdParams,
        body: PaymentWriteSchema,
        answers: {
          200: answer(
            'Recorded. `event` is null when nothing changed; `stale` is true when a newer version is stored.',
            WrittenSchema,
          ),
          201: answer('The first write of this payment, recorded.', WrittenSchema),
        },
        problems: [
          ...ABOUT_CLIENT,
          'account-required',
          'unknown-account',
          'payment-of-another-account',
          'forbidden-move',
        ],
      }),
      config: { role: 'ingest', readAhead: readFileAhead },
      // Payments have rules of their own (core/payments/payment-fields), which keep the digits of an amount.
      validatorCompiler: withoutBody(app),
      // No promise in either, because they run thousands of times a second.
      onRequest: (request, _reply, done) => {
        readId((request.params as { id: string }).id)
        const accountId = readAccountId(request)
        request.accountId = accountId
        if (deps.accounts.findKnown(accountId) === undefined) {
          return checkAccount(deps.accounts, accountId)
        }
        done()
      },
      handler: (request, reply) => {
        const { id } = request.params as { id: string }
        const write = parsePayment(request.body, request.amountText, id.toLowerCase())
        const accountId = request.accountId as string
        const audit = toAuditEntry(deps, trailOf(request), 'payment.put', `payment:${write.id}`)
        deps.gatherer.enter({ accountId, write, audit }, new PutAnswer(request, reply, write.id))
      },
    })

    app.route({
      method: 'POST',
      url: '/payments/batch',
      bodyLimit: LINE_LIMITS.bytesMax,
      config: { role: 'ingest', mediaType: NDJSON_TYPE },
      schema: {
        operationId: 'putPayments',
        tags,
        summary: 'Write many payments, one per line',
        description: `NDJSON: each line a payment with its accountId. At most ${LINE_LIMITS.linesMax} lines and ${LINE_LIMITS.bytesMax / 1024 / 1024} MiB, and no more than 30 seconds of silence. One bad line never fails its neighbours.`,
        querystring: Type.Object({}),
        body: { content: { [NDJSON_TYPE]: { schema: LineWriteSchema } } },
        response: {
          200: Type.Unsafe<unknown>({
            description: 'A line for each line, in the same order.',
            content: { [NDJSON_TYPE]: { schema: LineSchema } },
          }),
          ...problemResponses(
            ...OPERATOR_PROBLEMS,
            'invalid-query',
            'body-too-large',
            'unsupported-media-type',
            'request-timeout',
          ),
        },
      },
      validatorCompiler: withoutBody(app),
      handler: async (request, reply) => {
        bePatientWith(request.raw)
        const chunks = readPatiently(request.body as Readable)
        const audit = toBatchAudit(deps, trailOf(request))
        const results = await recordLines(deps.gatherer, chunks, LINE_LIMITS, audit, large).catch(
          (error: unknown) => {
            // The rest of the body is not read, so this connection cannot be used again.
            reply.header('connection', 'close')
            throw error
          },
        )
        await finishBatchAudit(deps, audit)
        const context = { baseUrl: deps.baseUrl(), requestId: request.id, isTokenRequest: false }
        const chunksOut = inChunks(results, (result) => `${toLine(result, context)}\n`)
        return reply.type(NDJSON_TYPE).send(Readable.from(chunksOut, { objectMode: false }))
      },
    })
  }
}

/** Checks everything but the body as in other routes. */
function withoutBody({ validatorCompiler }: App): FastifySchemaCompiler<TSchema> {
  return (part) =>
    part.httpPart === 'body' || !validatorCompiler ? () => true : validatorCompiler(part)
}

/** Answers a PUT when its change is on disk, or is refused. */
class PutAnswer implements Submitter {
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply
  readonly #paymentId: string

  constructor(request: FastifyRequest, reply: FastifyReply, paymentId: string) {
    this.#request = request
    this.#reply = reply
    this.#paymentId = paymentId
  }

  recorded(recorded: RecordedPayment): void {
    const logged = { paymentId: this.#paymentId }
    const eventId = recorded.event?.id
    this.#request.logged = eventId === undefined ? logged : { ...logged, eventId }
    try {
      this.#reply
        .code(recorded.outcome === 'created' ? 201 : 200)
        .type(JSON_TYPE)
        .send(`{"payment":${recorded.text},${eventMembers(recorded)}}`)
    } catch (error) {
      // Must not throw: other changes of the same transaction wait for their answers after this one.
      this.refused(error)
    }
  }

  refused(error: unknown): void {
    this.#reply.send(toServiceError(error))
  }
}

async function checkAccount(accounts: AccountDirectory, accountId: string): Promise<void> {
  if ((await accounts.findOne(accountId)) === null) throw unknownAccount()
}

/** Sent once, and a uuid. */
function readAccountId(request: FastifyRequest): string {
  const accountId = onlyHeaderValue(request, 'accountid')
  if (accountId === undefined || !isUuid(accountId)) {
    throw new ServiceError(
      'account-required',
      'Send the header AccountId with the uuid of the account that the payment belongs to.',
    )
  }
  return accountId.toLowerCase()
}

function eventMembers(recorded: RecordedPayment): string {
  const { event, outcome } = recorded
  if (event === null) return outcome === 'stale' ? '"event":null,"stale":true' : '"event":null'
  // Joined by hand, because an id, a kind and a number need no escaping.
  return `"event":{"id":"${event.id}","type":"${event.kind}","sequence":${event.sequence}}`
}

function toLine(
  { line, paymentId, result }: LineResult,
  context: Parameters<typeof toProblem>[1],
): string {
  // A uuid needs no escaping.
  const head = `{"line":${line},"id":${paymentId === null ? 'null' : `"${paymentId}"`},`
  return result instanceof ServiceError
    ? `${head}"problem":${JSON.stringify(toProblem(result, context))}}`
    : `${head}${eventMembers(result)}}`
}

/** A chunk for each line would be thousands of writes, and all at once would hold the loop up. */
async function* inChunks<T>(items: readonly T[], toText: (item: T) => string) {
  for (let start = 0; start < items.length; start += LINES_IN_A_CHUNK) {
    yield Buffer.from(
      items
        .slice(start, start + LINES_IN_A_CHUNK)
        .map(toText)
        .join(''),
    )
    await pause()
  }
}

/** As the body of a PUT is read. */
async function readLarge(bytes: Uint8Array, work: LargeWork): Promise<ParsedJson> {
  const parsed = await work.runSteps(parseJsonInSteps(bytes))
  await readFileAhead(parsed.value, work)
  return parsed
}
