// The only way from the console to the service: the public HTTP API, same origin. The header tells the
// service that the session's cookie may count; no form and no image of another site can send it.

export interface FieldProblem {
  pointer: string
  code: string
  detail: string
}

/** An answer that was a refusal, in the service's own words (RFC 9457). */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem'
  readonly status: number
  readonly code: string
  readonly title: string
  readonly detail: string
  readonly fields: readonly FieldProblem[]

  constructor(status: number, body: Record<string, unknown>) {
    const title = typeof body.title === 'string' ? body.title : 'The service refused'
    const detail = typeof body.detail === 'string' ? body.detail : `It answered ${status}.`
    super(`${title}. ${detail}`)
    this.status = status
    this.code = typeof body.code === 'string' ? body.code : `http-${status}`
    this.title = title
    this.detail = detail
    this.fields = Array.isArray(body.errors) ? (body.errors as FieldProblem[]) : []
  }
}

export interface RequestOptions {
  /** Sent as JSON; a text is sent as it is, so that amounts keep their digits. */
  body?: unknown
  headers?: Readonly<Record<string, string>>
  accountId?: string
  signal?: AbortSignal
}

const HEADERS = { 'x-paybell-console': '1' }

export async function send(
  method: string,
  path: string,
  { body, headers, accountId, signal }: RequestOptions = {},
): Promise<Response> {
  const answer = await fetch(path, {
    method,
    credentials: 'same-origin',
    cache: 'no-store',
    signal: signal ?? null,
    headers: {
      ...HEADERS,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(accountId === undefined ? {} : { accountid: accountId }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw new ApiProblem(0, {
      code: 'service-away',
      title: 'The service cannot be reached',
      detail: 'Is it running? The console tries again by itself.',
    })
  })
  if (!answer.ok) throw await toProblem(answer)
  return answer
}

async function toProblem(answer: Response): Promise<ApiProblem> {
  const problem = new ApiProblem(answer.status, await readObject(answer))
  // The session ended elsewhere (sign-out, a revoked key, 12 hours): the shell asks again who we are.
  if (answer.status === 401) window.dispatchEvent(new Event(SESSION_ENDED))
  return problem
}

export const SESSION_ENDED = 'paybell:session-ended'

async function readObject(answer: Response): Promise<Record<string, unknown>> {
  try {
    const value: unknown = await answer.json()
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** JSON in, JSON out. An empty answer is undefined. */
async function call<T>(method: string, path: string, options?: RequestOptions): Promise<T> {
  const answer = await send(method, path, options)
  const text = await answer.text()
  return (text === '' ? undefined : JSON.parse(text, keepDigits)) as T
}

/** Money is exact: an amount is read as the text that it was written as, digit for digit. */
function keepDigits(name: string, value: unknown, context?: { source?: string }): unknown {
  if (name !== 'amount' || typeof value !== 'number') return value
  // The third argument is newer than some browsers.
  return context?.source ?? String(value)
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
  text: async (path: string, options?: RequestOptions) => (await send('GET', path, options)).text(),
}
