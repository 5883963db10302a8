// The client interface, call by call. Secrets live in closures: a client that is logged shows none.

import { PaybellError } from './errors.ts'
import { type HeadersLike, toPlainHeaders } from './headers.ts'
import { type Bytes, toBase64 } from './hmac.ts'
import { TokenKeeper } from './token.ts'
import { type Answer, type CallOptions, send, sleep, toJson } from './transport.ts'
import type {
  CheckReport,
  Delivery,
  DeliveryDetail,
  DeliveryState,
  Diagnosis,
  Endpoint,
  EndpointHealth,
  Listener,
  ListenerOffer,
  Page,
  Payment,
  PaymentEvent,
  ReplayedDelivery,
  TestResult,
  Webhook,
} from './types.ts'
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

export interface PageQuery {
  /** From 0. */
  page?: number | undefined
  /** 20 by default, at most 100. */
  size?: number | undefined
}

export interface DeliveryQuery {
  /** 50 by default, at most 200. */
  limit?: number | undefined
  after?: string | undefined
  state?: DeliveryState | readonly DeliveryState[] | undefined
  endpointId?: string | undefined
  paymentId?: string | undefined
  from?: string | Date | undefined
  to?: string | Date | undefined
}

export interface EventQuery {
  limit?: number | undefined
  /** Where to go on: the `next` of an earlier page. */
  after?: string | undefined
}

export interface FollowOptions {
  /** At the end, wait for more instead of ending; a `signal` ends it. */
  follow?: boolean | undefined
  /** How often to ask when there is nothing new: every 5,000 ms by default. */
  pollMs?: number | undefined
}

export interface Recovery {
  since: string | Date
  until?: string | Date | undefined
  /** `['EXHAUSTED']` by default. */
  states?: readonly DeliveryState[] | undefined
}

export interface CursorPage<Item> {
  items: Item[]
  /** Null at the end. */
  next: string | null
}

export interface EventPage extends CursorPage<PaymentEvent> {
  /** Always there, also at the end: keep it and come back with it. */
  next: string
}

/** What your receiver answered, or why nobody did. */
export interface ListenerOutcome {
  offerId: string
  status?: number | undefined
  error?:
    | 'connect-error'
    | 'connection-reset'
    | 'dns-error'
    | 'protocol-error'
    | 'timeout'
    | 'tls-error'
    | undefined
  durationMs?: number | undefined
  /** How the answer begins. */
  body?: string | undefined
  retryAfter?: string | undefined
}

/** For what the service does while one waits. */
const LONG_MS = 120_000

export type Client = ReturnType<typeof createClient>

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

export function createClient(options: ClientOptions) {
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

  /** What webhooks, subscriptions and listeners have in common. */
  const endpoints = <Item = Endpoint>(path: string, fixed: CallDetails) => ({
    get: (id: string, details?: CallOptions) =>
      get<Item & { health: EndpointHealth }>(`${path}/${segment(id)}`, undefined, {
        ...details,
        ...fixed,
      }),
    /** `PAUSED` keeps what is owed; `ACTIVE` lets it go out, in order. */
    setStatus: (id: string, status: 'ACTIVE' | 'PAUSED', details?: CallOptions) =>
      call<Item>('PATCH', `${path}/${segment(id)}`, {
        ...details,
        ...fixed,
        body: { status },
        isSafe: true,
      }),
    /** What it was still owed is cancelled. */
    delete: (id: string, details?: CallOptions) =>
      call<void>('DELETE', `${path}/${segment(id)}`, { ...details, ...fixed }),
    /** Sends again what ended in one of these states. */
    recover: (id: string, recovery: Recovery, details?: CallOptions) =>
      call<{ replayed: number }>('POST', `${path}/${segment(id)}/recover`, {
        timeoutMs: LONG_MS,
        ...details,
        ...fixed,
        body: recovery,
      }),
    /** How many `recover` would send. */
    countRecoverable: (id: string, recovery: Recovery, details?: CallOptions) =>
      call<{ wouldReplay: number }>('POST', `${path}/${segment(id)}/recover`, {
        timeoutMs: LONG_MS,
        ...details,
        ...fixed,
        query: { dryRun: true },
        body: recovery,
        isSafe: true,
      }),
    /** Sends a signed specimen at once. */
    test: (id: string, details?: CallOptions) =>
      call<TestResult>('POST', `${path}/${segment(id)}/test`, { ...details, ...fixed }),
    /** The signature doctor: names the mistake. Give what your receiver got, or what it made of it. */
    verify: (
      id: string,
      { headers, body }: { headers: HeadersLike; body: string | Uint8Array },
      details?: CallOptions,
    ) =>
      call<Diagnosis>('POST', `${path}/${segment(id)}/verify`, {
        ...details,
        ...fixed,
        body: {
          headers: toPlainHeaders(headers),
          ...(typeof body === 'string' ? { body } : { bodyBase64: toBase64(body) }),
        },
        isSafe: true,
      }),
    /** Drives your receiver through a fixed list of callbacks, good and bad. Takes up to a minute. */
    check: (id: string, details?: CallOptions) =>
      call<CheckReport>('POST', `${path}/${segment(id)}/check`, {
        timeoutMs: LONG_MS,
        ...details,
        ...fixed,
      }),
  })

  const WEBHOOKS = '/v1/webhooks'
  const SUBSCRIPTIONS = '/api/v1/payments/subscriptions'
  const clientWide = { isClientWide: true }

  const webhooks = {
    ...endpoints(WEBHOOKS, {}),
    /** The same `callbackUrl` again replaces its key. Answers the registered webhook. */
    async register(
      registration: { callbackUrl: string; sharedKey: string },
      details?: CallOptions,
    ): Promise<Endpoint> {
      const { callbackUrl, sharedKey } = registration
      // Twice with one key is the same as once.
      await call<void>('POST', `${WEBHOOKS}/register`, {
        ...details,
        body: { callbackUrl, sharedKey },
        isSafe: true,
      })
      // The service answers with an empty body; the list knows the id.
      const { href } = new URL(callbackUrl)
      for await (const webhook of allPages<Endpoint>(`${WEBHOOKS}/list`, 100, details)) {
        if (new URL(webhook.endpointUrl).href === href) return webhook
      }
      throw new PaybellError('The webhook was registered, and is not in the list.', {
        code: 'unexpected-answer',
      })
    },
    /** Of one account. */
    list: (query: PageQuery = {}, details?: CallOptions) =>
      get<Page<Endpoint>>(`${WEBHOOKS}/list`, query, details),
    /** Of the client's account, or with `accountId: null` of all accounts. */
    all: (details?: CallOptions) => allPages<Webhook>(WEBHOOKS, 100, details),
  }

  const subscriptions = {
    ...endpoints(SUBSCRIPTIONS, clientWide),
    list: (query: PageQuery = {}, details?: CallOptions) =>
      get<Page<Endpoint>>(SUBSCRIPTIONS, query, { ...details, ...clientWide }),
    all: (details?: CallOptions) =>
      allPages<Endpoint>(SUBSCRIPTIONS, 100, { ...details, ...clientWide }),
  }

  const LISTENERS = '/v1/listeners'
  const { check: _, ...ofListeners } = endpoints<Listener>(LISTENERS, {})

  const listeners = {
    ...ofListeners,
    /** The same `name` again is the same listener; another key replaces its key. */
    register: (registration: { name: string; sharedKey: string }, details?: CallOptions) =>
      call<Listener>('POST', LISTENERS, { ...details, body: registration, isSafe: true }),
    list: (query: PageQuery = {}, details?: CallOptions) =>
      get<Page<Listener>>(LISTENERS, query, details),
    /** Waits for a callback, up to `wait` seconds (0 to 30); undefined when none came. */
    next: (id: string, { wait = 20 }: { wait?: number } = {}, details?: CallOptions) =>
      get<ListenerOffer | undefined>(`${LISTENERS}/${segment(id)}/next`, { wait }, details),
    /** Tells what came of it, within its `timeoutMs`. */
    answer: (id: string, outcome: ListenerOutcome, details?: CallOptions) =>
      call<void>('POST', `${LISTENERS}/${segment(id)}/outcomes`, { ...details, body: outcome }),
  }

  async function* deliveryPages(query: DeliveryQuery = {}, details?: CallOptions) {
    for (let after = query.after; ; ) {
      const page = await deliveries.list({ ...query, after }, details)
      yield page
      if (page.next === null) return
      after = page.next
    }
  }

  const deliveries = {
    /** Newest first. */
    list: (query: DeliveryQuery = {}, details?: CallOptions) =>
      get<CursorPage<Delivery>>('/v1/deliveries', query, details),
    pages: deliveryPages,
    async *all(query?: DeliveryQuery, details?: CallOptions) {
      for await (const { items } of deliveryPages(query, details)) yield* items
    },
    get: (id: string, details?: CallOptions) =>
      get<DeliveryDetail>(`/v1/deliveries/${segment(id)}`, undefined, details),
    /** The same bytes and `webhook-id` again, for a new run of 7 days. */
    replay: (id: string, details?: CallOptions) =>
      call<ReplayedDelivery>('POST', `/v1/deliveries/${segment(id)}/replay`, details),
  }

  async function* eventPages(query: EventQuery & FollowOptions = {}, details?: CallOptions) {
    const { follow, pollMs = 5_000, limit } = query
    for (let after = query.after; ; ) {
      const page = await events.list({ limit, after }, details)
      after = page.next
      if (page.items.length > 0) yield page
      else if (follow) await sleep(pollMs, details?.signal)
      else return
    }
  }

  const events = {
    /** Oldest first. */
    list: (query: EventQuery = {}, details?: CallOptions) =>
      get<EventPage>('/v1/events', query, details),
    /** Page by page to the end: keep the `next` of each page when you have handled it. */
    pages: eventPages,
    async *all(query?: EventQuery & FollowOptions, details?: CallOptions) {
      for await (const { items } of eventPages(query, details)) yield* items
    },
    /** The exact bytes of the callback body. */
    getBody: async (id: string, details?: CallOptions): Promise<Bytes> =>
      (await request('GET', `/v1/events/${segment(id)}`, details)).bytes,
  }

  return {
    call,
    webhooks,
    listeners,
    subscriptions,
    deliveries,
    events,
    payments: {
      /** The payment as it is now. */
      get: (id: string, details?: CallOptions) =>
        get<Payment>(`/v1/payments/${segment(id)}`, undefined, details),
    },
    /** All payments of all accounts to one address. The same `callbackUrl` again replaces key and header. */
    async subscribe(
      subscription: {
        callbackUrl: string
        sharedKey: string
        headerKey?: string | undefined
        headerValue?: string | undefined
      },
      details?: CallOptions,
    ): Promise<{ id: string; payment: Payment }> {
      const { callbackUrl, sharedKey, headerKey, headerValue } = subscription
      const answer = await request('POST', '/api/v1/payments/subscribe', {
        ...details,
        ...clientWide,
        body: { callbackUrl, sharedKey, headerKey, headerValue },
        isSafe: true,
      })
      const id = answer.headers.get('location')?.split('/').at(-1) ?? ''
      return { id, payment: toJson(answer) as Payment }
    },
  }
}

function segment(id: string): string {
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
