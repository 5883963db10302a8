// Tracing with a real SDK: one trace from the operator's own request through the server to the
// acceptance, and a trace for each attempt that links back to it, also in another process.

import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import {
  context,
  propagation,
  type SpanContext,
  SpanKind,
  type TextMapPropagator,
  trace,
} from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { findTracer } from '../../server/telemetry/tracing.ts'
import { type Paybell, startPaybell, until } from '../support/paybell.ts'
import { sampleBody } from '../support/payment-sample.ts'
import { startReceiver } from '../support/receiver.ts'

const exporter = new InMemorySpanExporter()

/** What an SDK brings along: reads the W3C header. */
const W3C: TextMapPropagator = {
  inject() {},
  extract(into, carrier, getter) {
    const [, traceId, spanId] = String(getter.get(carrier, 'traceparent')).split('-')
    if (!traceId || !spanId) return into
    return trace.setSpanContext(into, { traceId, spanId, traceFlags: 1, isRemote: true })
  },
  fields: () => ['traceparent'],
}

function spansOf(traceId: string): readonly ReadableSpan[] {
  return exporter.getFinishedSpans().filter((span) => span.spanContext().traceId === traceId)
}

function attemptsAt(receiverPort: number): readonly ReadableSpan[] {
  return exporter
    .getFinishedSpans()
    .filter((span) => span.name === 'POST' && span.attributes['server.port'] === receiverPort)
}

async function put({ caller }: Paybell, traceId: string): Promise<void> {
  const id = randomUUID()
  const traceparent = `00-${traceId}-${randomBytes(8).toString('hex')}-01`
  const response = await caller.putPayment(id, sampleBody({ id }), { headers: { traceparent } })
  assert.equal(response.status, 201)
}

describe('tracing', () => {
  before(() => {
    assert.equal(findTracer('1'), null, 'without an SDK there is no tracer')
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    propagation.setGlobalPropagator(W3C)
    trace.setGlobalTracerProvider(
      new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
    )
    assert.notEqual(findTracer('1'), null)
  })

  // The next file of this process is to find none, either.
  after(() => {
    trace.disable()
    propagation.disable()
    context.disable()
  })

  test('a change is followed from the request to each attempt, and on to the receiver', async (t) => {
    const receiver = await startReceiver(t)
    let refusals = 1
    receiver.answer = () => (refusals-- > 0 ? 503 : 200)
    const paybell = await startPaybell(t, { env: { PAYBELL_TIME_SCALE: '100' } })
    await paybell.caller.register(receiver.url('/hook?token=secret'), 'a key')
    const traceId = randomBytes(16).toString('hex')
    await put(paybell, traceId)
    await until('both attempts are exported', () => attemptsAt(receiver.port).length === 2)

    const spans = spansOf(traceId)
    const server = spans.find((span) => span.kind === SpanKind.SERVER) as ReadableSpan
    assert.equal(server.name, 'PUT /operator/v1/payments/:id')
    assert.equal(server.attributes['http.response.status_code'], 201)
    assert.equal(server.attributes['http.route'], '/operator/v1/payments/:id')
    const accept = spans.find((span) => span.name === 'paybell.accept') as ReadableSpan
    assert.equal(accept.parentSpanContext?.spanId, server.spanContext().spanId)
    assert.equal(accept.attributes['paybell.changes'], 1)
    assert.equal(accept.attributes['paybell.deliveries'], 1)

    const [first, second] = attemptsAt(receiver.port) as [ReadableSpan, ReadableSpan]
    assert.equal(first.kind, SpanKind.CLIENT)
    assert.equal(first.attributes['http.request.method'], 'POST')
    assert.equal(first.attributes['server.address'], '127.0.0.1')
    assert.equal(first.attributes['http.response.status_code'], 503)
    assert.equal(first.attributes['error.type'], '503')
    assert.equal(first.attributes['http.request.resend_count'], 0)
    assert.equal(second.attributes['http.request.resend_count'], 1)
    assert.equal(second.attributes['http.response.status_code'], 200)
    assert.equal(second.attributes['error.type'], undefined)
    for (const [index, span] of [first, second].entries()) {
      assert.notEqual(span.spanContext().traceId, traceId, 'a trace of its own')
      assert.deepEqual(linkedTo(span), [accept.spanContext().spanId])
      assert.equal(receiver.received[index]?.headers.traceparent, toHeader(span.spanContext()))
      assert.doesNotMatch(JSON.stringify(span.attributes), /secret|hook/)
    }
  })

  test('changes of several requests in one transaction are linked to from it', async (t) => {
    const paybell = await startPaybell(t)
    const traceIds = Array.from({ length: 12 }, () => randomBytes(16).toString('hex'))
    await Promise.all(traceIds.map((traceId) => put(paybell, traceId)))
    const accepts = exporter.getFinishedSpans().filter(({ name }) => name === 'paybell.accept')
    const known = new Set(
      accepts.flatMap((span) => [
        span.spanContext().traceId,
        ...span.links.map((link) => link.context.traceId),
      ]),
    )
    for (const traceId of traceIds) assert.ok(known.has(traceId))
  })

  test('an attempt in another process, after the first has gone, still links back', async (t) => {
    const receiver = await startReceiver(t)
    receiver.answer = 500
    const first = await startPaybell(t, { env: { PAYBELL_TIME_SCALE: '100' } })
    await first.caller.register(receiver.url(), 'a key')
    const traceId = randomBytes(16).toString('hex')
    await put(first, traceId)
    await receiver.hasSeen(({ received }) => received.length > 0)
    await until('the trace is kept', async () => {
      const { rowCount } = await first.pool.query('select from event_traces')
      return rowCount === 1
    })
    await first.stop()
    const seen = attemptsAt(receiver.port).length
    receiver.answer = 200
    await startPaybell(t, { env: { PAYBELL_TIME_SCALE: '100' }, beside: first })
    await until('it was delivered', () => attemptsAt(receiver.port).length > seen)
    const last = attemptsAt(receiver.port).at(-1) as ReadableSpan
    assert.equal(last.attributes['http.response.status_code'], 200)
    assert.deepEqual(
      last.links.map((link) => link.context.traceId),
      [traceId],
    )
  })

  test('a client does not decide what is sampled: its trace is linked to', async (t) => {
    const paybell = await startPaybell(t)
    const traceId = randomBytes(16).toString('hex')
    await fetch(`${paybell.baseUrl}/v1/webhooks/list`, {
      headers: {
        ...(await paybell.caller.headers()),
        traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01`,
      },
    })
    assert.deepEqual(spansOf(traceId), [])
    const span = await until('the span', () =>
      exporter
        .getFinishedSpans()
        .find(({ links }) => links.some((link) => link.context.traceId === traceId)),
    )
    assert.equal(span.name, 'GET /v1/webhooks/list')
  })
})

function linkedTo(span: ReadableSpan): readonly string[] {
  return span.links.map((link) => link.context.spanId)
}

function toHeader({ traceId, spanId }: SpanContext): string {
  return `00-${traceId}-${spanId}-01`
}
