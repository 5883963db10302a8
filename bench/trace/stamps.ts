// Loaded into the service before anything else (`node --import`), and only by bench/trace.ts: notes when a PUT comes in,
// when its statements are sent and answered, when its answer goes out, and what the process does beside it. The service
// has no stamps of its own and pays for none. What was noted is written to a file when the process ends.

import { subscribe } from 'node:diagnostics_channel'
import { writeFileSync } from 'node:fs'
import { type IncomingMessage, ServerResponse } from 'node:http'
import { constants, PerformanceObserver } from 'node:perf_hooks'
import pg from 'pg'
import { monotonicMs } from '../harness/monotonic.ts'
import type { Noted, Request, Span } from './stages.ts'

const noted: Noted = { requests: [], statements: [], pauses: [] }

const requests = new WeakMap<object, Request>()
subscribe('http.server.request.start', (message) => {
  const { request, response } = message as { request: IncomingMessage; response: ServerResponse }
  if (request.method !== 'PUT') return
  const one = { path: request.url ?? '', startMs: monotonicMs(), endMs: 0 }
  requests.set(response, one)
  noted.requests.push(one)
})
const end = ServerResponse.prototype.end
ServerResponse.prototype.end = function (this: ServerResponse, ...given: unknown[]) {
  const one = requests.get(this)
  if (one) one.endMs = monotonicMs()
  return Reflect.apply(end, this, given)
} as typeof end

let connections = 0
const numbers = new WeakMap<object, number>()
const query = pg.Client.prototype.query
pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
  const asked = given[0] as string | { name?: string; text?: string }
  const name = typeof asked === 'string' ? asked : (asked.name ?? asked.text ?? '')
  const connection = numbers.get(this) ?? ++connections
  numbers.set(this, connection)
  const span: Span = { name, connection, startMs: monotonicMs(), endMs: 0 }
  noted.statements.push(span)
  const over = () => {
    span.endMs = monotonicMs()
  }
  // The pool asks with a callback, everybody else with a promise.
  const last = given.at(-1)
  if (typeof last === 'function') {
    given[given.length - 1] = (...answer: unknown[]) => {
      over()
      last(...answer)
    }
    return Reflect.apply(query, this, given)
  }
  const answer = Reflect.apply(query, this, given) as unknown as Promise<unknown>
  answer.then(over, over)
  return answer
} as typeof query

const PAUSES = new Map([
  [constants.NODE_PERFORMANCE_GC_MINOR, 'scavenge'],
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'mark and sweep'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'a step of marking'],
])
const originMs = monotonicMs() - performance.now()
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    const { kind } = (entry as unknown as { detail: { kind: number } }).detail
    const startMs = originMs + entry.startTime
    noted.pauses.push({ name: PAUSES.get(kind) ?? '', startMs, endMs: startMs + entry.duration })
  }
}).observe({ entryTypes: ['gc'] })

process.on('exit', () => writeFileSync(process.env.TRACE_FILE as string, JSON.stringify(noted)))
