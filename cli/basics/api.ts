// How commands call a service: over the SDK's transport, each call once. An answer keeps its text, which
// is what --json prints; errors are in the words of the command line.

import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import {
  type Bearer,
  type Caller,
  createCaller,
  type RawDetails,
} from '../../sdk/src/calling/caller.ts'
import { type Credentials, createTokenBearer } from '../../sdk/src/calling/client-caller.ts'
import { type TransportOptions, toJson } from '../../sdk/src/calling/transport.ts'
import { PaybellError } from '../../sdk/src/plain/errors.ts'
import { VERSION } from './version.ts'

/** The key or the credentials were refused. */
export class RefusedError extends PaybellError {
  /** What to check: the command line knows where the key came from, the service does not. */
  readonly hint: string

  constructor(error: PaybellError, hint: string) {
    super(error.message, error)
    this.hint = hint
  }
}

/** There was no answer at all. */
export class UnreachableError extends PaybellError {
  constructor(url: string, cause: unknown) {
    super(`${url} cannot be reached: ${describeCause(url, cause)}.`, {
      code: 'network-error',
      cause,
    })
  }
}

export interface Answer {
  status: number
  headers: Headers
  bytes: Uint8Array
  /** As it came. */
  text: string
  /** Amounts are their exact text. */
  json<T>(): T
}

export interface ApiOptions {
  url: string
  /** Null for what anyone may read. */
  bearer: Bearer | null
  /** For a 401. */
  refusedHint: string
  agent?: Agent | undefined
}

/** What calls: the command line, or an assistant by way of it, which the audit tells apart. */
export type Agent = 'paybell' | 'paybell-mcp'

const TRANSPORT: TransportOptions = {
  fetch: (input, init) => fetch(input, init),
  // Commands that can wait say so themselves, with what they wait for.
  retries: 0,
  timeoutMs: 60_000,
  random: Math.random,
}
const HEADERS = { 'user-agent': `paybell/${VERSION}` }

export class Api {
  readonly url: string
  readonly #caller: Caller
  readonly #refusedHint: string

  constructor({ url, bearer, refusedHint, agent = 'paybell' }: ApiOptions) {
    this.url = url.replace(/\/+$/, '')
    this.#refusedHint = refusedHint
    const headers = { 'user-agent': `${agent}/${VERSION}` }
    const service = { baseUrl: this.url, transport: TRANSPORT, headers }
    this.#caller = createCaller({ ...service, bearer })
  }

  /** For the calls of the SDK. */
  get caller(): Caller {
    return this.#caller
  }

  get(path: string, query?: RawDetails['query']): Promise<Answer> {
    return this.call('GET', path, query === undefined ? {} : { query })
  }

  post(path: string, body?: unknown, details: RawDetails = {}): Promise<Answer> {
    return this.call('POST', path, { ...details, body })
  }

  async call(method: string, path: string, details: RawDetails = {}): Promise<Answer> {
    const answer = await this.#telling(this.#caller.request(method, path, details))
    const { status, headers, bytes } = answer
    const text = new TextDecoder().decode(bytes)
    return { status, headers, bytes, text, json: <T>() => toJson(answer) as T }
  }

  /** Server-sent events: an answer that goes on until either side ends it. */
  async stream(path: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array> | null> {
    const headers = { accept: 'text/event-stream' }
    return (await this.#telling(this.#caller.stream(path, { headers, signal }))).body
  }

  /** An answer of any length, as it comes. */
  async download(path: string, query: RawDetails['query'] = {}): Promise<Readable> {
    const headers = { accept: '*/*' }
    const { body } = await this.#telling(this.#caller.stream(path, { headers, query }))
    return body === null ? Readable.from([]) : Readable.fromWeb(body as NodeReadableStream)
  }

  async #telling<Result>(result: Promise<Result>): Promise<Result> {
    try {
      return await result
    } catch (error) {
      if (!(error instanceof PaybellError)) throw error
      if (error.code === 'timeout') throw new UnreachableError(this.url, NO_ANSWER)
      if (error.code === 'network-error') throw new UnreachableError(this.url, error.cause)
      // The caller means another address. It was not called: keys do not follow redirects.
      if (error.status >= 300 && error.status < 400) throw new UnreachableError(this.url, REDIRECT)
      // Proxies answer plain HTTP on the port of TLS with a page of their own.
      if (error.status === 400 && error.problem === undefined && isPlain(this.url)) {
        throw new UnreachableError(this.url, NOT_PAYBELL)
      }
      if (error.status !== 401) throw error
      throw new RefusedError(error, error.code === 'keys-only' ? KEYS_ONLY : this.#refusedHint)
    }
  }
}

/** The operator's key. */
export function keyBearer(key: string): Bearer {
  return { get: async () => key, refuse: () => false }
}

/** Gets a token for the credentials, and another one when it has expired. */
export function tokenBearer(url: string, credentials: Credentials): Bearer {
  const service = { baseUrl: url.replace(/\/+$/, ''), transport: TRANSPORT, headers: HEADERS }
  return createTokenBearer(service, credentials)
}

const KEYS_ONLY =
  'Name the file with its private key: PAYBELL_CLIENT_KEY_FILE, or paybell login --key-file FILE.'
const NO_ANSWER = new Error('it does not answer')
const REDIRECT = new Error(
  'it redirects. Give the address that it leads to, with https:// if it leads there',
)
const NOT_PAYBELL = new Error(
  'what answers there is not Paybell. If that port speaks TLS, begin the address with https://',
)
const NOT_TLS =
  'that port speaks plain HTTP, not TLS. Begin the address with http://, or give the port that speaks TLS'
const MAYBE_TLS = 'the connection was cut. If that port speaks TLS, begin the address with https://'

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

/** What OpenSSL says when the first bytes of the answer are HTTP. */
const NOT_TLS_CODES =
  /^(EPROTO|ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|ERR_SSL_HTTP_REQUEST)$/
/** What plain HTTP meets at a server that expects TLS: an alert that is no HTTP, or the end. */
const NOT_HTTP = /^(HTTPParserError$|HPE_|ECONNRESET$|UND_ERR_SOCKET$|EPIPE$)/

function isPlain(url: string): boolean {
  return /^http:/i.test(url)
}

function describeCause(url: string, error: unknown): string {
  const reasons = withCauses(error)
  for (const { name, code } of reasons as { name: string; code?: unknown }[]) {
    if (isPlain(url) && NOT_HTTP.test(String(code ?? name))) return MAYBE_TLS
    if (!isPlain(url) && NOT_TLS_CODES.test(String(code))) return NOT_TLS
    if (typeof code === 'string' && CAUSES[code] !== undefined) return CAUSES[code]
  }
  return reasons.at(-1)?.message ?? String(error)
}

/** The error and what led to it, the first cause last. */
function withCauses(error: unknown): Error[] {
  if (!(error instanceof Error)) return []
  const parts = error instanceof AggregateError ? error.errors.flatMap(withCauses) : []
  return [error, ...parts, ...withCauses(error.cause)]
}
