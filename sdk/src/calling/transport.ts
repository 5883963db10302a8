// One call over HTTP: time limit, retries with backoff, and one class of error for all that can go
// wrong. 429 and 503 say that nothing was done, so every call is tried again. After a network error it
// is unknown what was done, so only calls that may be made twice are tried again.

import { PaybellError } from '../plain/errors.ts'
import type { Bytes } from '../plain/hmac.ts'
import { parseExact } from '../plain/money.ts'
import { BodyTooLarge, readBytes } from '../plain/read-bytes.ts'
import type { Problem } from '../wire/types.ts'

export interface CallOptions {
  signal?: AbortSignal | undefined
  /** For each try: 30,000 by default. */
  timeoutMs?: number | undefined
  /** Instead of the client's; null for all accounts. */
  accountId?: string | null | undefined
}

export interface Call extends CallOptions {
  method: string
  url: string
  headers: () => Promise<Record<string, string>>
  /** Sent as JSON. */
  body?: unknown
  /** Sent as it is, instead; a function makes it for each try. */
  content?: string | Bytes | (() => Promise<string>) | undefined
  /** May be made twice without harm. */
  isSafe: boolean
  /** Called after a 401; returns true when it makes sense to try again at once. */
  onUnauthorized?: () => boolean
}

export interface Answer {
  status: number
  headers: Headers
  bytes: Bytes
}

export interface TransportOptions {
  fetch: typeof fetch
  retries: number
  timeoutMs: number
  random: () => number
}

const BACKOFF_MS = 250
const BACKOFF_MS_MAX = 10_000
/** A longer Retry-After is left to the caller, with `retryAfterSeconds` on the error. */
const RETRY_AFTER_SECONDS_MAX = 60
const ANSWER_BYTES_MAX = 32 * 1024 * 1024

export async function send(options: TransportOptions, call: Call): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    call.signal?.throwIfAborted()
    const result = await tryOnce(options, call)
    if (!(result instanceof PaybellError)) return result
    if (result.status === 401 && call.onUnauthorized?.()) continue
    if (tries > options.retries || !isWorthAnother(result, call.isSafe)) throw result
    await sleep(waitMs(result.retryAfterSeconds, tries, options.random), call.signal)
  }
}

/** Text to a value, with amounts kept exact. */
export function toJson(answer: Answer): unknown {
  try {
    return parseExact(new TextDecoder('utf-8', { fatal: true }).decode(answer.bytes))
  } catch {
    throw unexpected(answer.status, answer.headers)
  }
}

/** A streamed answer, open until either side ends it: one try, and no time limit. */
export async function open(options: TransportOptions, call: Call): Promise<Response> {
  const headers = await call.headers()
  let response: Response
  try {
    response = await options.fetch(call.url, await toInit(call, headers, call.signal))
    if (response.ok) return response
    throw toError(response, await readBytes(response, ANSWER_BYTES_MAX))
  } catch (error) {
    call.signal?.throwIfAborted()
    throw error instanceof PaybellError ? error : unreachable(call, error)
  }
}

async function tryOnce(options: TransportOptions, call: Call): Promise<Answer | PaybellError> {
  const headers = await call.headers()
  const init = await toInit(call, headers)
  const limit = new AbortController()
  const stop = () => limit.abort(call.signal?.reason)
  call.signal?.addEventListener('abort', stop)
  const timeoutMs = call.timeoutMs ?? options.timeoutMs
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    limit.abort()
  }, timeoutMs)
  try {
    const response = await options.fetch(call.url, { ...init, signal: limit.signal })
    const bytes = await readBytes(response, ANSWER_BYTES_MAX)
    const { status } = response
    return response.ok ? { status, headers: response.headers, bytes } : toError(response, bytes)
  } catch (error) {
    call.signal?.throwIfAborted()
    if (error instanceof BodyTooLarge) throw new PaybellError(error.message, BAD_ANSWER)
    if (isLate) return new PaybellError(`No answer within ${timeoutMs} ms.`, { code: 'timeout' })
    return unreachable(call, error)
  } finally {
    clearTimeout(timer)
    call.signal?.removeEventListener('abort', stop)
  }
}

async function toInit(
  { method, body, content }: Call,
  headers: Record<string, string>,
  signal?: AbortSignal,
): Promise<RequestInit> {
  const given = typeof content === 'function' ? await content() : content
  const sent = given ?? (body === undefined ? undefined : JSON.stringify(body))
  return {
    method,
    headers,
    ...(sent === undefined ? {} : { body: sent }),
    // Credentials go only to the address that was given, so redirects are not followed.
    redirect: 'manual',
    ...(signal ? { signal } : {}),
  }
}

function unreachable({ url }: Call, cause: unknown): PaybellError {
  const { origin } = new URL(url)
  return new PaybellError(`${origin} could not be reached.`, { code: 'network-error', cause })
}

const BAD_ANSWER = { code: 'unexpected-answer' }

function toError(response: Response, bytes: Bytes): PaybellError {
  const { status, headers } = response
  let problem: Problem | undefined
  try {
    problem = JSON.parse(new TextDecoder().decode(bytes)) as Problem
  } catch {
    // A proxy's page, perhaps.
  }
  if (typeof problem?.code !== 'string') return unexpected(status, headers)
  const fields = (problem.errors ?? []).map(({ pointer, detail }) => ` ${pointer}: ${detail}`)
  return new PaybellError(`${problem.detail}${fields.join('')} (${status} ${problem.code})`, {
    code: problem.code,
    problem,
    ...factsOf(status, headers, problem),
  })
}

function unexpected(status: number, headers: Headers): PaybellError {
  return new PaybellError(
    `The answer (${status}) is not Paybell's. Check baseUrl, and what stands in between.`,
    { ...BAD_ANSWER, ...factsOf(status, headers) },
  )
}

function factsOf(status: number, headers: Headers, problem?: Problem) {
  const retryAfter = headers.get('retry-after')
  const seconds = /^\d+$/.test(retryAfter ?? '')
    ? Number(retryAfter)
    : (Date.parse(retryAfter ?? '') - Date.now()) / 1_000
  return {
    status,
    requestId: headers.get('x-request-id') ?? problem?.instance?.replace(/^urn:request:/, ''),
    retryAfterSeconds: Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds)),
  }
}

function isWorthAnother(error: PaybellError, isSafe: boolean): boolean {
  const { status } = error
  if (status === 429 || status === 503) {
    return (error.retryAfterSeconds ?? 0) <= RETRY_AFTER_SECONDS_MAX
  }
  return isSafe && (status === 0 || status === 502 || status === 504)
}

/** At least what the service asked for; beyond that spread out, so that many callers do not return together. */
export function waitMs(
  retryAfterSeconds: number | undefined,
  tries: number,
  random: () => number,
): number {
  const backoffMs = Math.min(BACKOFF_MS * 2 ** (tries - 1), BACKOFF_MS_MAX)
  return (retryAfterSeconds ?? 0) * 1_000 + backoffMs * (0.5 + random() / 2)
}

export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  let wake = () => {}
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms)
    wake = () => {
      clearTimeout(timer)
      resolve()
    }
    signal?.addEventListener('abort', wake)
  })
  signal?.removeEventListener('abort', wake)
  signal?.throwIfAborted()
}
