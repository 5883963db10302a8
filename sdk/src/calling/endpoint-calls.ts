// The calls about endpoints: webhooks of an account, subscriptions of a client, and listeners, which fetch.

import { PaybellError } from '../plain/errors.ts'
import { type HeadersLike, toPlainHeaders } from '../plain/headers.ts'
import { toBase64 } from '../plain/hmac.ts'
import type { Window } from '../plain/ids-digest.ts'
import type {
  CheckReport,
  DeliveryState,
  Diagnosis,
  Endpoint,
  EndpointHealth,
  EndpointQuery,
  EndpointSettings,
  EventChoice,
  Listener,
  ListenerOffer,
  ListenerOutcome,
  Page,
  Series,
  Statement,
  TestResult,
  Webhook,
} from '../wire/types.ts'
import { type CallDetails, type Caller, segment } from './caller.ts'
import { pageItems } from './lists.ts'
import type { CallOptions } from './transport.ts'

export interface PageQuery {
  /** From 0. */
  page?: number | undefined
  /** 20 by default, at most 100. */
  size?: number | undefined
}

export interface Recovery {
  since: string | Date
  until?: string | Date | undefined
  /** `['EXHAUSTED']` by default. */
  states?: readonly DeliveryState[] | undefined
}

export interface MissingEvents {
  since: string | Date
  until?: string | Date | undefined
  /** All by default. */
  events?: readonly EventChoice[] | undefined
}

/** For calls whose answer waits until the service has done the work. */
const LONG_MS = 120_000

const WEBHOOKS = '/v1/webhooks'
const SUBSCRIPTIONS = '/api/v1/payments/subscriptions'
const LISTENERS = '/v1/listeners'
/** About all accounts. */
export const CLIENT_WIDE = { isClientWide: true }

export type WebhookCalls = ReturnType<typeof webhookCalls>
export type SubscriptionCalls = ReturnType<typeof subscriptionCalls>
export type ListenerCalls = ReturnType<typeof listenerCalls>

export function webhookCalls(caller: Caller) {
  const { call, get } = caller
  return {
    ...endpointCalls(caller, WEBHOOKS, {}),
    ...settingsCalls(caller, WEBHOOKS, {}),
    /**
     * Registers a webhook and returns it. The same `callbackUrl` again replaces its key, and the settings that
     * are given.
     */
    async register(
      registration: { callbackUrl: string; sharedKey: string } & EndpointSettings,
      details?: CallOptions,
    ): Promise<Endpoint> {
      const { callbackUrl, sharedKey, ...settings } = registration
      // Twice with one key is the same as once.
      await call<void>('POST', `${WEBHOOKS}/register`, {
        ...details,
        body: { callbackUrl, sharedKey, ...settings },
        isSafe: true,
      })
      // The service answers with an empty body; the list knows the id.
      const { href } = new URL(callbackUrl)
      for await (const webhook of pageItems<Endpoint>(get, `${WEBHOOKS}/list`, {}, details)) {
        if (new URL(webhook.endpointUrl).href === href) return webhook
      }
      throw new PaybellError('The webhook was registered, and is not in the list.', {
        code: 'unexpected-answer',
      })
    },
    /**
     * Of the client's account, or with `accountId: null` of all accounts. `kind: 'any'` lists subscriptions and
     * listeners, too.
     *
     * ```js
     * const { content } = await paybell.webhooks.list({ kind: 'any', failing: true, health: true })
     * for (const { endpointUrl, health } of content) console.log(endpointUrl, health?.failingSince)
     * ```
     */
    list: (query: EndpointQuery = {}, details?: CallOptions) =>
      get<Page<Webhook>>(WEBHOOKS, query, details),
    /** The same list, to its end. */
    all: (query: EndpointQuery = {}, details?: CallOptions) =>
      pageItems<Webhook>(get, WEBHOOKS, query, details),
  }
}

export function subscriptionCalls(caller: Caller) {
  const { get } = caller
  return {
    ...endpointCalls(caller, SUBSCRIPTIONS, CLIENT_WIDE),
    ...settingsCalls(caller, SUBSCRIPTIONS, CLIENT_WIDE),
    list: (query: PageQuery = {}, details?: CallOptions) =>
      get<Page<Endpoint>>(SUBSCRIPTIONS, query, { ...details, ...CLIENT_WIDE }),
    all: (details?: CallOptions) =>
      pageItems<Endpoint>(get, SUBSCRIPTIONS, {}, { ...details, ...CLIENT_WIDE }),
  }
}

export function listenerCalls(caller: Caller) {
  const { call, get } = caller
  const { check: _, ...ofListeners } = endpointCalls<Listener>(caller, LISTENERS, {})
  return {
    ...ofListeners,
    /** The same `name` again is the same listener; another key replaces its key. */
    register: (registration: { name: string; sharedKey: string }, details?: CallOptions) =>
      call<Listener>('POST', LISTENERS, { ...details, body: registration, isSafe: true }),
    list: (query: PageQuery = {}, details?: CallOptions) =>
      get<Page<Listener>>(LISTENERS, query, details),
    all: (details?: CallOptions) => pageItems<Listener>(get, LISTENERS, {}, details),
    /** Waits for a callback, up to `wait` seconds (0 to 30); undefined when none came. */
    next: (id: string, { wait = 20 }: { wait?: number } = {}, details?: CallOptions) =>
      get<ListenerOffer | undefined>(`${LISTENERS}/${segment(id)}/next`, { wait }, details),
    /** Reports the outcome of a callback, within its `timeoutMs`. */
    answer: (id: string, outcome: ListenerOutcome, details?: CallOptions) =>
      call<void>('POST', `${LISTENERS}/${segment(id)}/outcomes`, { ...details, body: outcome }),
  }
}

/** What listeners do not have. */
function settingsCalls({ call }: Caller, path: string, fixed: CallDetails) {
  return {
    /**
     * What it gets, and how, from now on. What is left out stays as it is. Events from before that it gets only
     * now: `replayMissing`.
     *
     * ```js
     * await paybell.webhooks.change(webhookId, { events: ['payment.paid'], document: 'link' })
     * await paybell.webhooks.change(webhookId, { events: null }) // All kinds again.
     * ```
     */
    change: (id: string, settings: EndpointSettings, details?: CallOptions) =>
      call<Endpoint>('PATCH', `${path}/${segment(id)}`, {
        ...details,
        ...fixed,
        body: settings,
        isSafe: true,
      }),
  }
}

/** What the three have in common. */
function endpointCalls<Item = Endpoint>({ call, get }: Caller, path: string, fixed: CallDetails) {
  const act = <Result>(id: string, verb: string, details?: CallDetails, more?: CallDetails) =>
    call<Result>('POST', `${path}/${segment(id)}/${verb}`, { ...details, ...fixed, ...more })
  const actLong: typeof act = (id, verb, details, more) =>
    act(id, verb, { timeoutMs: LONG_MS, ...details }, more)

  return {
    get: (id: string, details?: CallOptions) =>
      get<Item & { health: EndpointHealth }>(`${path}/${segment(id)}`, undefined, {
        ...details,
        ...fixed,
      }),
    /** How it fared, hour by hour: a day by default, or a week. */
    series: (id: string, query: { window?: 'day' | 'week' } = {}, details?: CallOptions) =>
      get<Series>(`${path}/${segment(id)}/series`, query, { ...details, ...fixed }),
    /** What it had to get and got, hour by hour, signed. Whole hours, at most 31 days. */
    statement: (id: string, window: Window, details?: CallOptions) =>
      get<Statement>(
        `${path}/${segment(id)}/statement`,
        { from: window.from, to: window.to },
        { timeoutMs: LONG_MS, ...details, ...fixed },
      ),
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
    /** Everything that is pending for it is due now, in order: for a receiver that works again. */
    retry: (id: string, details?: CallOptions) =>
      actLong<{ retried: number }>(id, 'retry', details, { isSafe: true }),
    /** Sends again what ended in one of these states. */
    recover: (id: string, recovery: Recovery, details?: CallOptions) =>
      actLong<{ replayed: number }>(id, 'recover', details, { body: recovery }),
    /** How many `recover` would send. */
    countRecoverable: (id: string, recovery: Recovery, details?: CallOptions) =>
      actLong<{ wouldReplay: number }>(id, 'recover', details, {
        query: { dryRun: true },
        body: recovery,
        isSafe: true,
      }),
    /**
     * Sends what it was never owed: from before it was registered, or not among its `events` then. Oldest first, and
     * once: asked again, it sends what is still missing.
     *
     * ```js
     * const since = new Date('2026-11-01T00:00:00Z')
     * const { wouldQueue } = await paybell.webhooks.countMissing(webhookId, { since })
     * if (wouldQueue < 10_000) await paybell.webhooks.replayMissing(webhookId, { since })
     * ```
     */
    replayMissing: (id: string, missing: MissingEvents, details?: CallOptions) =>
      actLong<{ queued: number }>(id, 'replay-missing', details, { body: missing }),
    /** How many `replayMissing` would send. */
    countMissing: (id: string, missing: MissingEvents, details?: CallOptions) =>
      actLong<{ wouldQueue: number }>(id, 'replay-missing', details, {
        query: { dryRun: true },
        body: missing,
        isSafe: true,
      }),
    /** Sends a signed specimen at once. */
    test: (id: string, details?: CallOptions) => act<TestResult>(id, 'test', details),
    /** The signature doctor: names the mistake. Give what your receiver got, or what it made of it. */
    verify: (
      id: string,
      { headers, body }: { headers: HeadersLike; body: string | Uint8Array },
      details?: CallOptions,
    ) =>
      act<Diagnosis>(id, 'verify', details, {
        body: {
          headers: toPlainHeaders(headers),
          ...(typeof body === 'string' ? { body } : { bodyBase64: toBase64(body) }),
        },
        isSafe: true,
      }),
    /** Drives your receiver through a fixed list of callbacks, good and bad. Takes up to a minute. */
    check: (id: string, details?: CallOptions) => actLong<CheckReport>(id, 'check', details),
  }
}
