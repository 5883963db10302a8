// Who calls: credentials, token, headers and account of every call. Secrets live in closures: a client
// that is logged shows none.

import { PaybellError } from './errors.ts'
import { TokenKeeper } from './token.ts'
import { type Answer, type CallOptions, send, toJson } from './transport.ts'
import type { Page } from './types.ts'
import { VERSION } from './version.ts'

export interface ClientOptions {
  /** Such as `https://paybell.example.com`. */
  baseUrl: string
  clientId: string
  clientSecret: string
  /** The account that calls are about, unless they name another. */
  accountId?: string | undefined
  /** Instead of the runtime's. */
  fetch?: typeof fetch | undefined
  /** Tries after the first one: 3 by default. */
  retries?: number | undefined
  /** For each try: 30,000 by default. */
  timeoutMs?: number | undefined
  /** Send credentials over `http://` to another machine. */
  allowInsecureHttp?: boolean | undefined
  /** For tests: milliseconds since 1970, and a number from 0 to 1. */
  now?: (() => number) | undefined
  random?: (() => number) | undefined
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

export type Caller = ReturnType<typeof createCaller>

export function createCaller(options: ClientOptions) {
  const { clientId, clientSecret } = options
  const baseUrl = readBaseUrl(options)
  for (const [name, value] of Object.entries({ clientId, clientSecret })) {
    if (typeof value !== 'string' || value === '') throw new TypeError(`${name} is missing.`)
  }
  const transport = {
    // Called as a function: some runtimes refuse their own fetch as a method of another object.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    retries: options.retries ?? 3,
    timeoutMs: options.timeoutMs ?? 30_000,
    random: options.random ?? Math.random,
  } satisfies Parameters<typeof send>[0]
  const base = { accept: 'application/json', 'user-agent': `paybell-sdk/${VERSION}` }
  const withBody = { ...base, 'content-type': 'application/json' }

  const tokens = new TokenKeeper(async () => {
    // Without the signal of a caller: the others still wait for it.
    const answer = await send(transport, {
      method: 'POST',
      url: `${baseUrl}/auth/token`,
      headers: async () => withBody,
      body: { clientId, clientSecret },
      isSafe: true,
    })
    const { access_token, expires_in } = toJson(answer) as Record<string, unknown>
    if (typeof access_token !== 'string' || typeof expires_in !== 'number') {
      throw new PaybellError('The answer holds no token. Check baseUrl.', {
        code: 'unexpected-answer',
        status: 200,
      })
    }
    return { value: access_token, lifetimeSeconds: expires_in }
  }, options.now)

  function request(method: string, path: string, call: CallDetails = {}): Promise<Answer> {
    const accountId =
      call.isClientWide || call.accountId === null
        ? undefined
        : (call.accountId ?? options.accountId)
    let token = ''
    let isRenewed = false
    return send(transport, {
      ...call,
      method,
      url: `${baseUrl}${path}${toSearch(call.query)}`,
      isSafe: call.isSafe ?? method === 'GET',
      async headers() {
        token = await orAborted(tokens.get(), call.signal)
        return {
          ...(call.body === undefined ? base : withBody),
          authorization: `Bearer ${token}`,
          ...(accountId === undefined ? {} : { accountid: accountId }),
        }
      },
      onUnauthorized() {
        tokens.refuse(token)
        const isFirst = !isRenewed
        isRenewed = true
        return isFirst
      },
    })
  }

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

  async function* allPages<Item>(path: string, size: number, details?: CallDetails) {
    for (let page = 0; ; page++) {
      const { content, totalPages } = await get<Page<Item>>(path, { page, size }, details)
      yield* content
      if (page + 1 >= totalPages) return
    }
  }

  return { request, call, get, allPages }
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

function readBaseUrl({ baseUrl, allowInsecureHttp }: ClientOptions): string {
  if (!URL.canParse(baseUrl)) {
    throw new TypeError('baseUrl is missing or no URL: such as https://paybell.example.com')
  }
  const url = new URL(baseUrl)
  const isLocal = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && (isLocal || allowInsecureHttp))) {
    throw new TypeError(
      'baseUrl must be https://, because the client secret goes there. In a network that you trust, set allowInsecureHttp.',
    )
  }
  return url.origin + url.pathname.replace(/\/+$/, '')
}

/** The token is fetched for all who wait; one who gives up leaves the others to it. */
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
