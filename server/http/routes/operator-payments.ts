// /operator/v1/payments: where payment changes come in, one by one or as lines of NDJSON. An answer
// is given only when the change, its event and all its deliveries are on disk.

import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { ServiceError } from '../../core/errors.ts'
import { PAYMENT_BODY_BYTES_MAX } from '../../core/payment.ts'
import { parsePayment } from '../../core/payment-fields.ts'
import { isUuid } from '../../core/uuid.ts'
import type { AccountDirectory } from '../../operations/account-directory.ts'
import type { Deps } from '../../operations/deps.ts'
import type { PaymentGatherer } from '../../operations/payment-gatherer.ts'
import { LINE_LIMITS, type LineResult, recordLines } from '../../operations/record-lines.ts'
import { type RecordedPayment, unknownAccount } from '../../operations/record-payments.ts'
import {
  type EventView,
  type PaymentView,
  viewPayment,
  viewPaymentEvents,
  viewPayments,
} from '../../operations/view-payments.ts'
import { headerValues } from '../authenticate.ts'
import { CursorQuery, cursorText, toCursorRequest } from '../cursor.ts'
import { CallbackSchema, PAYMENT_EXAMPLE } from '../payment-schema.ts'
import { toProblem } from '../problems.ts'
import { BODY_PROBLEMS, IdParams, OPERATOR_PROBLEMS, problemResponses, readId } from '../schemas.ts'
import type { Routes } from '../typed.ts'

export interface PaymentRoutesDeps extends Deps {
  baseUrl(): string
  gatherer: PaymentGatherer
  accounts: AccountDirectory
}

/** What may be left out of a write, the rest being the payment as callbacks carry it. */
const PaymentWriteSchema = Type.Object(
  {
    ...CallbackSchema.properties,
    id: Type.Optional(CallbackSchema.properties.id),
    createdAt: Type.Optional(CallbackSchema.properties.createdAt),
    version: Type.Optional(
      Type.Integer({ description: 'A number of the source that only rises.' }),
    ),
  },
  { examples: [PAYMENT_EXAMPLE] },
)

const JSON_TYPE = 'application/json; charset=utf-8'
const NDJSON_TYPE = 'application/x-ndjson'
const tags = ['Payments in']

export function operatorPaymentRoutes(deps: PaymentRoutesDeps): Routes {
  return (app) => {
    app.addContentTypeParser(NDJSON_TYPE, (_request, payload, done) => done(null, payload))

    app.route({
      method: 'PUT',
      url: '/payments/:id',
      bodyLimit: PAYMENT_BODY_BYTES_MAX,
      schema: {
        operationId: 'putPayment',
        tags,
        summary: 'Write a payment as it is now',
        description:
          'The whole payment each time. The answer is given when the change, its event and all its deliveries are on disk.',
        headers: Type.Object({ AccountId: Type.String({ format: 'uuid' }) }),
        params: IdParams,
        body: PaymentWriteSchema,
        response: problemResponses(
          ...OPERATOR_PROBLEMS,
          ...BODY_PROBLEMS,
          'account-required',
          'unknown-account',
          'payment-of-another-account',
          'forbidden-move',
          'overloaded',
        ),
      },
      // Payments have rules of their own (core/payment-fields), which keep the digits of an amount.
      validatorCompiler: () => () => true,
      onRequest: async (request) => {
        readId((request.params as { id: string }).id)
        const accountId = readAccountId(request)
        if (!(await deps.accounts.find([accountId])).has(accountId)) throw unknownAccount()
      },
      handler: async (request, reply) => {
        const { id } = request.params as { id: string }
        const write = parsePayment(request.body, request.amountText, readId(id))
        const recorded = await deps.gatherer.submit({ accountId: readAccountId(request), write })
        return reply
          .code(recorded.outcome === 'created' ? 201 : 200)
          .type(JSON_TYPE)
          .send(`{"payment":${recorded.text},${eventMembers(recorded)}}`)
      },
    })

    app.route({
      method: 'POST',
      url: '/payments/batch',
      bodyLimit: LINE_LIMITS.bytesMax,
      config: { mediaType: NDJSON_TYPE },
      schema: {
        operationId: 'putPayments',
        tags,
        summary: 'Write many payments, a line each',
        description: `NDJSON: each line a payment with its accountId. At most ${LINE_LIMITS.linesMax} lines and ${LINE_LIMITS.bytesMax / 1024 / 1024} MiB. One bad line never fails its neighbours.`,
        response: problemResponses(
          ...OPERATOR_PROBLEMS,
          'body-too-large',
          'unsupported-media-type',
        ),
      },
      validatorCompiler: () => () => true,
      handler: async (request, reply) => {
        const chunks = (request.body as Readable).iterator({ destroyOnReturn: false })
        const results = await recordLines(deps.gatherer, chunks).catch((error: unknown) => {
          // The rest of the body is not read: nothing more can come on this connection.
          reply.header('connection', 'close')
          throw error
        })
        const context = { baseUrl: deps.baseUrl(), requestId: request.id, isTokenRequest: false }
        const lines = results.map((result) => `${toLine(result, context)}\n`)
        return reply.type(NDJSON_TYPE).send(Readable.from(inChunks(lines), { objectMode: false }))
      },
    })

    app.route({
      method: 'GET',
      url: '/payments',
      schema: {
        operationId: 'listPayments',
        tags,
        summary: 'List payments, newest first',
        querystring: Type.Object({
          ...CursorQuery,
          clientId: Type.Optional(Type.String({ format: 'uuid' })),
          accountId: Type.Optional(Type.String({ format: 'uuid' })),
        }),
        response: problemResponses(...OPERATOR_PROBLEMS, 'invalid-query'),
      },
      handler: async (request, reply) => {
        const { clientId, accountId, ...query } = request.query
        const filter = { clientId: clientId ?? null, accountId: accountId ?? null }
        const page = await viewPayments(deps, filter, toCursorRequest(query))
        return reply.type(JSON_TYPE).send(cursorText(page, paymentText))
      },
    })

    app.route({
      method: 'GET',
      url: '/payments/:id',
      schema: {
        operationId: 'getPayment',
        tags,
        summary: 'See a payment as it is now',
        params: IdParams,
        response: problemResponses(...OPERATOR_PROBLEMS, 'not-found'),
      },
      handler: async (request, reply) => {
        const payment = await viewPayment(deps, readId(request.params.id))
        return reply.type(JSON_TYPE).send(paymentText(payment))
      },
    })

    app.route({
      method: 'GET',
      url: '/payments/:id/events',
      schema: {
        operationId: 'listPaymentEvents',
        tags,
        summary: "List a payment's events, newest first",
        params: IdParams,
        querystring: Type.Object(CursorQuery),
        response: problemResponses(...OPERATOR_PROBLEMS, 'not-found', 'invalid-query'),
      },
      handler: async (request, reply) => {
        const request_ = toCursorRequest(request.query)
        const page = await viewPaymentEvents(deps, readId(request.params.id), request_)
        return reply.type(JSON_TYPE).send(cursorText(page, eventText))
      },
    })
  }
}

/** Sent once, and a uuid. */
function readAccountId(request: FastifyRequest): string {
  const given = headerValues(request, 'accountid')
  const [accountId] = given
  if (given.length !== 1 || accountId === undefined || !isUuid(accountId)) {
    throw new ServiceError(
      'account-required',
      'Send the header AccountId with the uuid of the account that the payment belongs to.',
    )
  }
  return accountId.toLowerCase()
}

function eventMembers(recorded: RecordedPayment): string {
  const { event } = recorded
  const shown = event && { id: event.id, type: event.kind, sequence: event.sequence }
  return `"event":${JSON.stringify(shown)}${recorded.outcome === 'stale' ? ',"stale":true' : ''}`
}

function toLine(
  { line, paymentId, result }: LineResult,
  context: Parameters<typeof toProblem>[1],
): string {
  const head = `{"line":${line},"id":${JSON.stringify(paymentId)},`
  return result instanceof ServiceError
    ? `${head}"problem":${JSON.stringify(toProblem(result, context))}}`
    : `${head}${eventMembers(result)}}`
}

/** Some thousand lines at a time: neither one huge text nor a write each. */
function* inChunks(lines: readonly string[]): Generator<Buffer> {
  for (let start = 0; start < lines.length; start += 1_000) {
    yield Buffer.from(lines.slice(start, start + 1_000).join(''))
  }
}

// The texts begin with "{": what we add goes in front, and the exact amount stays untouched.
function paymentText(payment: PaymentView): string {
  const { accountId, clientId, version, sequence } = payment
  const added = JSON.stringify({ accountId, clientId, version, sequence })
  return `${added.slice(0, -1)},${payment.text.slice(1)}`
}

function eventText(event: EventView): string {
  const { id, kind, sequence, paymentId, createdAt } = event
  const head = JSON.stringify({ id, event: kind, sequence, paymentId, createdAt })
  return `${head.slice(0, -1)},"payment":${event.text}}`
}
