// The one way in which the command line speaks to a service: HTTP, with connections kept. An answer
// keeps its text, because amounts are exact there and nowhere else; a problem (RFC 9457) is an error.

import { VERSION } from './version.ts'

export interface Problem {
  type?: string
  title?: string
  status?: number
  detail?: string
  instance?: string
  code?: string
  errors?: readonly { pointer?: string; code?: string; detail?: string }[]
}

/** The service answered, and the answer is no. */
export class ApiError extends Error {
  readonly status: number
  readonly problem: Problem
  readonly requestId: string | null
  readonly retryAfterSeconds: number | null
  /** What to do about it, where the command line knows more than the service. */
  hint: string | null = null

  constructor(answer: Answer, problem: Problem) {
    super(problem.detail ?? problem.title ?? `The service answered ${answer.status}.`)
    this.name = 'ApiError'
    this.status = answer.status
    this.problem = problem
    this.requestId =
      problem.instance?.replace(/^urn:request:/, '') ?? answer.headers.get('x-request-id')
    this.retryAfterSeconds = readRetryAfter(answer.headers.get('retry-after'))
  }
}

/** There was no answer at all. */
export class UnreachableError extends Error {
  constructor(url: string, cause: unknown) {
    super(`${url} cannot be reached: ${describeCause(cause)}.`, { cause })
    this.name = 'UnreachableError'
  }
}

export interface Answer {
  status: number
  headers: Headers
  /** As it came; only here is an amount exact. */
  text: string
  json<T>(): T
}

export interface CallOptions {
  query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>
  headers?: Readonly<Record<string, string>>
  /** Sent as it is. */
  body?: string | Uint8Array<ArrayBuffer>
  /** Sent as JSON. */
  json?: unknown
  timeoutMs?: number
  /** Calls it off. */
  signal?: AbortSignal
}

export interface ApiOptions {
  url: string
  /** The key or the token, asked for once; empty where none is wanted. */
  bearer: () => Promise<string>
  headers?: Readonly<Record<string, string>>
  refusedHint?: string
}

const TIMEOUT_MS = 60_000

export class Api {
  readonly url: string
  readonly #options: ApiOptions
  #bearer: Promise<string> | null = null

  constructor(options: ApiOptions) {
    this.url = options.url.replace(/\/+$/, '')
    this.#options = options
  }

  get(path: string, query?: CallOptions['query']): Promise<Answer> {
    return this.call('GET', path, query === undefined ? {} : { query })
  }

  post(path: string, json?: unknown, options: CallOptions = {}): Promise<Answer> {
    return this.call('POST', path, json === undefined ? options : { ...options, json })
  }

  async call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const timeout = AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS)
    const signal = options.signal ? AbortSignal.any([timeout, options.signal]) : timeout
    const response = await this.#fetch(method, path, options, signal)
    let text: string
    try {
      text = await response.text()
    } catch (error) {
      throw new UnreachableError(this.url, error)
    }
    return this.#accept(response, text)
  }

  /** An answer that goes on until either side ends it: server-sent events. */
  async stream(path: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const headers = { accept: 'text/event-stream' }
    const response = await this.#fetch('GET', path, { headers }, signal)
    if (!response.ok || response.body === null) this.#accept(response, await response.text())
    return response.body as ReadableStream<Uint8Array>
  }

  async #fetch(
    method: string,
    path: string,
    options: CallOptions,
    signal: AbortSignal,
  ): Promise<Response> {
    this.#bearer ??= this.#options.bearer()
    const bearer = await this.#bearer
    const body = options.json === undefined ? options.body : JSON.stringify(options.json)
    const headers: Record<string, string> = {
      accept: 'application/json',
      'user-agent': `paybell/${VERSION}`,
      ...(bearer === '' ? {} : { authorization: `Bearer ${bearer}` }),
      ...(options.json === undefined ? {} : { 'content-type': 'application/json' }),
      ...this.#options.headers,
      ...options.headers,
    }
    try {
      return await fetch(this.url + path + queryText(options.query), {
        method,
        headers,
        signal,
        redirect: 'error',
        ...(body === undefined ? {} : { body }),
      })
    } catch (error) {
      if (signal.aborted && signal.reason?.name === 'AbortError') throw error
      throw new UnreachableError(this.url, error)
    }
  }

  #accept(response: Response, text: string): Answer {
    const answer: Answer = {
      status: response.status,
      headers: response.headers,
      text,
      json: <T>() => JSON.parse(text) as T,
    }
    if (response.ok) return answer
    const error = new ApiError(answer, readProblem(text))
    if (error.status === 401) error.hint = this.#options.refusedHint ?? null
    throw error
  }
}

function queryText(query: CallOptions['query'] = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one) => [name, String(one)] as [string, string]),
  )
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`
}

function readProblem(text: string): Problem {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Problem) : {}
  } catch {
    // A proxy in between answers in its own way.
    return {}
  }
}

/** Seconds or a date (RFC 9110 §10.2.3). */
export function readRetryAfter(text: string | null, nowMs: number = Date.now()): number | null {
  if (text === null) return null
  if (/^\d{1,9}$/.test(text)) return Number(text)
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? null : Math.max(0, Math.ceil((ms - nowMs) / 1_000))
}

const CAUSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'the name is not known',
  EAI_AGAIN: 'the name could not be looked up',
  ECONNRESET: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  ETIMEDOUT: 'it does not answer',
  UND_ERR_CONNECT_TIMEOUT: 'it does not answer',
  UND_ERR_HEADERS_TIMEOUT: 'it does not answer',
}

function describeCause(error: unknown): string {
  const reasons = [error, (error as Error)?.cause].flatMap((one) =>
    one instanceof AggregateError ? [one, ...one.errors] : [one],
  )
  for (const reason of reasons) {
    const { code, name } = (reason ?? {}) as { code?: string; name?: string }
    if (name === 'TimeoutError') return 'it does not answer'
    if (typeof code === 'string' && CAUSES[code] !== undefined) return CAUSES[code]
  }
  const last = reasons.findLast((reason) => reason instanceof Error) as Error | undefined
  return last?.message ?? String(error)
}
