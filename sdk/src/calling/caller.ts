// Calls over one transport: the credentials, headers and account of each, and its answer as JSON.
// Secrets live in closures: a caller that is logged shows none.

import {
  type Answer,
  type Call,
  type CallOptions,
  open,
  send,
  type TransportOptions,
  toJson,
} from './transport.ts'

/** Proves who calls. */
export interface Bearer {
  get(): Promise<string>
  /** The service has refused it; false when there is no better one. */
  refuse(value: string): boolean
}

export interface CallerOptions {
  /** Without a slash at its end. */
  baseUrl: string
  transport: TransportOptions
  /** None where a cookie does it. */
  bearer: Bearer | null
  /** Of every call. */
  headers: Readonly<Record<string, string>>
  /** The account that calls are about, unless they name another. */
  accountId?: string | undefined
}

/** A list goes with commas between its items. */
type Query = Readonly<
  Record<string, string | number | boolean | Date | readonly string[] | undefined>
>

export interface CallDetails extends CallOptions {
  query?: Query
  body?: unknown
  /** May be made twice without harm, so it is tried again after a network error. GET is. */
  isSafe?: boolean
  /** The operation is about all accounts: no AccountId. */
  isClientWide?: boolean
}

/** For the calls of the command line and the console. */
export interface RawDetails extends CallDetails {
  headers?: Readonly<Record<string, string>> | undefined
  /** Sent as it is, instead of `body`. */
  content?: Call['content']
}

export type Caller = ReturnType<typeof createCaller>

export function createCaller({ baseUrl, transport, bearer, ...options }: CallerOptions) {
  function toCall(method: string, path: string, details: RawDetails): Call {
    const accountId =
      details.isClientWide || details.accountId === null
        ? undefined
        : (details.accountId ?? options.accountId)
    const fixed = {
      accept: 'application/json',
      ...options.headers,
      ...(details.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(accountId === undefined ? {} : { accountid: accountId }),
      ...details.headers,
    }
    let token = ''
    let isRenewed = false
    return {
      ...details,
      method,
      url: `${baseUrl}${path}${toSearch(details.query)}`,
      isSafe: details.isSafe ?? method === 'GET',
      async headers() {
        if (bearer === null) return fixed
        token = await orAborted(bearer.get(), details.signal)
        return { ...fixed, authorization: `Bearer ${token}` }
      },
      onUnauthorized() {
        const isFirst = !isRenewed
        isRenewed = true
        return (bearer?.refuse(token) ?? false) && isFirst
      },
    }
  }

  const request = (method: string, path: string, details: RawDetails = {}): Promise<Answer> =>
    send(transport, toCall(method, path, details))

  /** A streamed answer, open until either side ends it. */
  const stream = (path: string, details: RawDetails = {}): Promise<Response> =>
    open(transport, toCall('GET', path, details))

  /** Any call of the interface, for what the SDK has no name for yet. */
  async function call<Result>(
    method: string,
    path: string,
    details?: CallDetails,
  ): Promise<Result> {
    const answer = await request(method, path, details)
    return (answer.bytes.length === 0 ? undefined : toJson(answer)) as Result
  }

  const get = <Result>(path: string, query?: object, details: CallDetails = {}) =>
    call<Result>('GET', path, { ...details, query: query as Query })

  return { request, stream, call, get }
}

/** An id as a part of a path. */
export function segment(id: string): string {
  if (typeof id !== 'string' || id === '') throw new TypeError('The id is missing.')
  return encodeURIComponent(id)
}

function toSearch(query: Query = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue
    search.set(name, value instanceof Date ? value.toISOString() : String(value))
  }
  return search.size === 0 ? '' : `?${search}`
}

/** One fetch of the token serves all callers that wait; a caller that gives up does not cancel it. */
async function orAborted<Result>(promise: Promise<Result>, signal?: AbortSignal): Promise<Result> {
  if (!signal) return promise
  let stop = () => {}
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop)
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
