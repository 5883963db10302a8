// The only way from the console to the service: the public HTTP API, same origin, over the SDK's transport.
// The header tells the service that the session's cookie may count; no form and no image of another site
// can send it. In a page of another origin the session is another one: one that a link of the client began there.

import { createCaller, type RawDetails } from '../../../sdk/src/calling/caller.ts'
import { type Answer, toJson } from '../../../sdk/src/calling/transport.ts'
import { PaybellError } from '../../../sdk/src/plain/errors.ts'
import { cellHeaders } from './cells.ts'
import type { Problem } from './types.ts'

/** An answer that was a refusal, in the service's own words (RFC 9457). */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem'
  readonly status: number
  readonly code: string
  readonly title: string
  readonly detail: string
  readonly fields: NonNullable<Problem['errors']>

  constructor(status: number, problem: Partial<Problem> = {}) {
    const { title = 'The service refused', detail = `It answered ${status}.` } = problem
    super(`${title}. ${detail}`)
    this.status = status
    this.code = problem.code ?? `http-${status}`
    this.title = title
    this.detail = detail
    this.fields = problem.errors ?? []
  }
}

export interface RequestOptions {
  /** Sent as JSON; a text is sent as it is, so that amounts keep their digits. */
  body?: unknown
  headers?: Readonly<Record<string, string>>
  accountId?: string
  signal?: AbortSignal
}

/** Longer than what a receiver's check may take. Reading again is the pages' business (main.tsx). */
const TRANSPORT = { retries: 0, timeoutMs: 120_000, random: Math.random }

/** Whether the console stands in a page of another origin; only those that the settings name can show it. */
export const isEmbedded = window.self !== window.top

const caller = createCaller({
  baseUrl: window.location.origin,
  transport: {
    ...TRANSPORT,
    fetch: (input, init) =>
      fetch(input, { ...init, credentials: 'same-origin', cache: 'no-store' }),
  },
  bearer: null,
  headers: { 'x-paybell-console': isEmbedded ? 'embedded' : '1' },
})

export function send(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
  const headers = { ...cellHeaders(path), ...options.headers }
  return caller
    .request(method, path, toDetails({ ...options, headers }))
    .catch((error) => refuse(error, method))
}

/** Server-sent events: the answer goes on until either side ends it. */
export function openStream(path: string, signal: AbortSignal): Promise<Response> {
  return caller
    .stream(path, { signal, headers: cellHeaders(path) })
    .catch((error) => refuse(error, 'GET'))
}

function toDetails({ body, headers, ...details }: RequestOptions): RawDetails {
  if (typeof body !== 'string') return { ...details, body, headers }
  return { ...details, content: body, headers: { 'content-type': 'application/json', ...headers } }
}

function refuse(error: unknown, method: string): never {
  if (!(error instanceof PaybellError)) throw error
  if (error.status === 0) {
    throw new ApiProblem(0, {
      code: 'service-away',
      title: 'The service cannot be reached',
      detail:
        method === 'GET'
          ? 'Is it running? The console tries again by itself.'
          : 'It may have done what you asked, or not: look before you try again.',
    })
  }
  // The session ended elsewhere (sign-out, a revoked key, 12 hours): the shell asks again who we are.
  if (error.status === 401) window.dispatchEvent(new Event(SESSION_ENDED))
  throw new ApiProblem(error.status, error.problem)
}

export const SESSION_ENDED = 'paybell:session-ended'

/** JSON in, JSON out. An empty answer is undefined. */
async function call<T>(method: string, path: string, options?: RequestOptions): Promise<T> {
  const answer = await send(method, path, options)
  return (answer.bytes.length === 0 ? undefined : toJson(answer)) as T
}

export const api = {
  get: <T>(path: string, options?: RequestOptions) => call<T>('GET', path, options),
  post: <T>(path: string, body?: unknown, options?: RequestOptions) =>
    call<T>('POST', path, { ...options, body }),
  put: <T>(path: string, body?: unknown, options?: RequestOptions) =>
    call<T>('PUT', path, { ...options, body }),
  patch: <T>(path: string, body?: unknown, options?: RequestOptions) =>
    call<T>('PATCH', path, { ...options, body }),
  delete: <T = void>(path: string, options?: RequestOptions) => call<T>('DELETE', path, options),
  /** The answer's text as it came: bodies whose digits and spaces matter. */
  text: async (path: string, options?: RequestOptions) =>
    new TextDecoder().decode((await send('GET', path, options)).bytes),
}
