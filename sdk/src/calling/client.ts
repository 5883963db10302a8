// The client interface: the calls of each kind of thing, over one caller.

import type {
  EndpointSettings,
  OwnStats,
  Page,
  Payment,
  PublicCertificate,
  SearchHit,
} from '../wire/types.ts'
import type { CallDetails } from './caller.ts'
import { type ClientOptions, createClientCaller } from './client-caller.ts'
import {
  CLIENT_WIDE,
  type ListenerCalls,
  listenerCalls,
  type PageQuery,
  type SubscriptionCalls,
  subscriptionCalls,
  type WebhookCalls,
  webhookCalls,
} from './endpoint-calls.ts'
import {
  type DeliveryCalls,
  deliveryCalls,
  type EventCalls,
  eventCalls,
  type PaymentCalls,
  paymentCalls,
} from './history-calls.ts'
import { type NoticeCalls, noticeCalls } from './notice-calls.ts'
import { type CallOptions, toJson } from './transport.ts'

export interface Client {
  /** Any call of the interface, for what the SDK has no name for yet. */
  call<Result>(method: string, path: string, details?: CallDetails): Promise<Result>
  webhooks: WebhookCalls
  listeners: ListenerCalls
  subscriptions: SubscriptionCalls
  notices: NoticeCalls
  deliveries: DeliveryCalls
  events: EventCalls
  payments: PaymentCalls
  /** What your receivers are shown when they ask who calls, for them to trust; `tls.clientCertificate` chooses one. */
  certificates(query?: PageQuery, details?: CallOptions): Promise<Page<PublicCertificate>>
  /** Counts over all accounts: endpoints by health, what is pending, what was delivered and given up lately. */
  stats(details?: CallOptions): Promise<OwnStats>
  /** Any id, an external id, or words of an address or of an account's name, each perhaps only begun. */
  search(text: string, details?: CallOptions): Promise<readonly SearchHit[]>
  /** All payments of all accounts to one address. The same `callbackUrl` again replaces key and header. */
  subscribe(
    subscription: Subscription,
    details?: CallOptions,
  ): Promise<{ id: string; payment: Payment }>
}

export interface Subscription extends EndpointSettings {
  callbackUrl: string
  sharedKey: string
  headerKey?: string | undefined
  headerValue?: string | undefined
}

/**
 * The client interface of one client. Nothing is sent before the first call: the token is fetched then,
 * and kept.
 *
 * ```js
 * import { createClient } from '@paybell/sdk'
 *
 * const paybell = createClient({
 *   baseUrl: 'https://paybell.example.com',
 *   clientId: '019a8f6e-1c2d-7a3b-8c4d-5e6f70819203',
 *   clientSecret: 'pbs_the-secret-from-onboarding',
 *   accountId: '3b1f0a52-7c86-4d1e-9f0a-8e2d5c4b6a70',
 * })
 * for await (const { id, lastOutcome } of paybell.deliveries.all({ state: 'EXHAUSTED' })) {
 *   console.log(id, lastOutcome)
 * }
 * ```
 */
export function createClient(options: ClientOptions): Client {
  const caller = createClientCaller(options)
  return {
    call: caller.call,
    webhooks: webhookCalls(caller),
    listeners: listenerCalls(caller),
    subscriptions: subscriptionCalls(caller),
    notices: noticeCalls(caller),
    deliveries: deliveryCalls(caller),
    events: eventCalls(caller),
    payments: paymentCalls(caller),
    certificates: (query = {}, details) =>
      caller.get<Page<PublicCertificate>>('/v1/client-certificates', query, {
        ...details,
        ...CLIENT_WIDE,
      }),
    stats: (details) => caller.get<OwnStats>('/v1/stats', {}, { ...details, ...CLIENT_WIDE }),
    search: async (q, details) =>
      (await caller.get<{ items: SearchHit[] }>('/v1/search', { q }, details)).items,
    async subscribe({ callbackUrl, sharedKey, ...rest }, details) {
      const answer = await caller.request('POST', '/api/v1/payments/subscribe', {
        ...details,
        ...CLIENT_WIDE,
        body: { callbackUrl, sharedKey, ...rest },
        isSafe: true,
      })
      const id = answer.headers.get('location')?.split('/').at(-1) ?? ''
      return { id, payment: toJson(answer) as Payment }
    },
  }
}
