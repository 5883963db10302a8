// Spans from the acceptance of a change to its attempts, for operators with an OpenTelemetry SDK. Only the API
// is a dependency: without an SDK `findTracer` returns null and nothing below runs. An attempt may come days
// later, in another process: it is a trace of its own and links to the one in which its event was accepted,
// which is remembered in memory and, if it is sampled, in the database.

import {
  context,
  isSpanContextValid,
  type Link,
  ProxyTracerProvider,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { Pool } from 'pg'
import type { AttemptResult, CallbackRequest } from '../core/delivery/callback-request.ts'
import { isSuccess, outcomeCode } from '../core/delivery/delivery.ts'
import type { HandedOff } from '../core/delivery/queued-delivery.ts'
import type { Clock } from '../core/plain/clock.ts'
import { Remembered } from '../core/plain/remembered.ts'
import { readEventTrace, saveEventTraces } from '../store/payments/event-traces.ts'

export interface TracingDeps {
  pool: Pool
  clock: Clock
  onError(error: unknown): void
}

/** Accepting spans that are remembered, whether sampled or not; about 3 MB. */
const REMEMBERED_MAX = 10_000
/** How many of its requests a transaction links to at most. */
const LINKS_MAX = 128

/** The tracer of the SDK that was registered before the service started (`node --import`), if any. */
export function findTracer(version: string): Tracer | null {
  const provider = trace.getTracerProvider()
  const noProvider = new ProxyTracerProvider().getDelegate()
  const isNobody =
    provider === noProvider ||
    (provider instanceof ProxyTracerProvider && provider.getDelegate() === noProvider)
  return isNobody ? null : provider.getTracer('paybell', version)
}

export class Tracing {
  readonly tracer: Tracer
  readonly #deps: TracingDeps
  /** Which request a change came with, until its transaction begins. */
  readonly #requests = new WeakMap<object, SpanContext>()
  /** Null: looked up and not found. */
  readonly #accepted = new Remembered<string, SpanContext | null>({ keysMax: REMEMBERED_MAX })

  constructor(tracer: Tracer, deps: TracingDeps) {
    this.tracer = tracer
    this.#deps = deps
  }

  /** Remembers the request of a change, because its transaction may serve many requests. */
  noteRequest(change: object): void {
    const request = trace.getActiveSpan()?.spanContext()
    if (request !== undefined) this.#requests.set(change, request)
  }

  /** Traces one transaction: within its request if it has one, with links to its requests if it has many. */
  async accept<T extends { deliveries: readonly HandedOff[] }>(
    changes: readonly object[],
    work: () => Promise<T>,
  ): Promise<T> {
    const requests = distinct(changes.map((change) => this.#requests.get(change)))
    const [only] = requests
    const parent =
      requests.length === 1 && only !== undefined
        ? trace.setSpanContext(context.active(), only)
        : context.active()
    const span = this.tracer.startSpan(
      'paybell.accept',
      {
        root: requests.length !== 1,
        links:
          requests.length > 1
            ? requests.slice(0, LINKS_MAX).map((request) => ({ context: request }))
            : [],
        attributes: { 'paybell.changes': changes.length },
      },
      parent,
    )
    try {
      const accepted = await context.with(trace.setSpan(parent, span), work)
      this.#rememberAll(span, accepted.deliveries)
      return accepted
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: (error as Error).message })
      throw error
    } finally {
      span.end()
    }
  }

  /** Rejects when `send` does: nothing was sent. */
  async send(
    request: CallbackRequest,
    send: (request: CallbackRequest) => Promise<AttemptResult>,
  ): Promise<AttemptResult> {
    const { clientKey, eventId, kind, attempt } = request
    const url = new URL(request.url)
    const span = this.tracer.startSpan('POST', {
      kind: SpanKind.CLIENT,
      root: true,
      attributes: {
        'http.request.method': 'POST',
        'http.request.resend_count': attempt - 1,
        'server.address': url.hostname,
        'server.port': Number(url.port || (url.protocol === 'https:' ? 443 : 80)),
        'paybell.event': kind,
        'paybell.event_id': eventId,
      },
    })
    // Looked up during the attempt, not before: an attempt must start while the shard's lease has room.
    const linked = span.isRecording() ? this.#link(span, clientKey, eventId) : null
    try {
      const result = await send(passOn(request, span.spanContext()))
      tellOutcome(span, result)
      return result
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: 'not sent' })
      throw error
    } finally {
      await linked
      span.end()
    }
  }

  async #link(span: Span, clientKey: number, eventId: string): Promise<void> {
    const accepted = await this.#accepted.get(eventId, () =>
      readEventTrace(this.#deps.pool, clientKey, eventId).then(
        (text) => parseTraceparent(text),
        () => null,
      ),
    )
    if (accepted !== null) span.addLink({ context: accepted } satisfies Link)
  }

  #rememberAll(span: Span, deliveries: readonly HandedOff[]): void {
    const accepted = span.spanContext()
    if (!isSpanContextValid(accepted) || deliveries.length === 0) return
    const events = new Map(deliveries.map(({ eventId, clientKey }) => [eventId, clientKey]))
    for (const eventId of events.keys()) this.#accepted.put(eventId, accepted)
    span.setAttribute('paybell.deliveries', deliveries.length)
    if (!span.isRecording()) return
    const rows = [...events].map(([eventId, clientKey]) => ({ eventId, clientKey }))
    const now = new Date(this.#deps.clock.nowMs())
    saveEventTraces(this.#deps.pool, rows, toTraceparent(accepted), now).catch(this.#deps.onError)
  }
}

function tellOutcome(span: Span, { outcome }: AttemptResult): void {
  if (outcome.kind === 'answered') {
    span.setAttribute('http.response.status_code', outcome.status)
  }
  if (isSuccess(outcome)) return
  const type = outcome.kind === 'answered' ? String(outcome.status) : outcomeCode(outcome)
  span.setAttribute('error.type', type)
  span.setStatus({ code: SpanStatusCode.ERROR })
}

/** Makes the receiver's spans children of the attempt's span, instead of the one derived from its ids. */
function passOn(request: CallbackRequest, of: SpanContext): CallbackRequest {
  if (!isSpanContextValid(of)) return request
  const headers = [...request.headers]
  const at = headers.indexOf('traceparent')
  if (at >= 0) headers[at + 1] = toTraceparent(of)
  return { ...request, headers }
}

function distinct(contexts: readonly (SpanContext | undefined)[]): readonly SpanContext[] {
  const given = contexts.filter((one) => one !== undefined)
  return [...new Map(given.map((one) => [one.spanId, one])).values()]
}

function toTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & TraceFlags.SAMPLED) === 0 ? '00' : '01'}`
}

function parseTraceparent(text: string | null): SpanContext | null {
  const parts = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(text ?? '')
  if (parts === null) return null
  const [, traceId, spanId, flags] = parts as unknown as [string, string, string, string]
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
}
