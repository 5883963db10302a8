// A server span for each request (OpenTelemetry's semantic conventions for HTTP), only with an SDK. A request
// of the operator continues the trace that it carries; a client's does not, because the client would decide
// what is sampled here: its trace is linked instead.

import {
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { FastifyInstance, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyRequest {
    /** Null without an SDK, and for probes. */
    span: Span | null
  }
}

export function traceRequests(app: FastifyInstance, tracer: Tracer): void {
  app.addHook('onRequest', (request, _reply, done) => {
    // The operator may have instrumented Node's own server: then its span is used.
    if (request.route?.config?.isProbe || trace.getActiveSpan() !== undefined) return done()
    const { span, within } = startSpan(tracer, request)
    request.span = span
    context.with(trace.setSpan(within, span), done)
  })
  app.addHook('onResponse', async (request, reply) => {
    if (request.span === null) return
    request.span.setAttribute('http.response.status_code', reply.statusCode)
    if (reply.statusCode >= 500) request.span.setStatus({ code: SpanStatusCode.ERROR })
    request.span.end()
  })
}

function startSpan(tracer: Tracer, request: FastifyRequest) {
  const route = request.route?.url
  const incoming = propagation.extract(ROOT_CONTEXT, request.headers)
  const isOperator = route?.startsWith('/operator/') === true
  const within = isOperator ? incoming : ROOT_CONTEXT
  const stranger = isOperator ? undefined : trace.getSpanContext(incoming)
  const span = tracer.startSpan(
    route === undefined ? request.method : `${request.method} ${route}`,
    {
      kind: SpanKind.SERVER,
      links: stranger === undefined ? [] : [{ context: stranger }],
      attributes: {
        'http.request.method': request.method,
        ...(route === undefined ? {} : { 'http.route': route }),
        'paybell.request_id': request.id,
      },
    },
    within,
  )
  return { span, within }
}
