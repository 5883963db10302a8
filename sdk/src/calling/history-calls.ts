// The calls about what has happened: deliveries, newest first, and the feed of events, oldest first.

import type { Bytes } from '../plain/hmac.ts'
import type {
  CursorPage,
  Delivery,
  DeliveryDetail,
  DeliveryState,
  EventPage,
  PaymentDetail,
  PaymentItem,
  PaymentState,
  ReplayedDelivery,
} from '../wire/types.ts'
import { type Caller, segment } from './caller.ts'
import { type CallOptions, sleep } from './transport.ts'

export interface DeliveryQuery {
  /** 50 by default, at most 200. */
  limit?: number | undefined
  after?: string | undefined
  state?: DeliveryState | readonly DeliveryState[] | undefined
  endpointId?: string | undefined
  paymentId?: string | undefined
  /** Of the payments that have exactly this one. */
  externalId?: string | undefined
  /** What the last attempt came to: `503`, `5xx`, `timeout`, `none`, or several with commas. */
  outcome?: string | undefined
  from?: string | Date | undefined
  to?: string | Date | undefined
}

export interface PaymentQuery {
  /** 50 by default, at most 200. */
  limit?: number | undefined
  after?: string | undefined
  /** Exactly this one. */
  externalId?: string | undefined
  state?: PaymentState | undefined
  /** First written from then on. */
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

export type DeliveryCalls = ReturnType<typeof deliveryCalls>
export type EventCalls = ReturnType<typeof eventCalls>
export type PaymentCalls = ReturnType<typeof paymentCalls>

export function deliveryCalls({ call, get, request }: Caller) {
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
    /** The exact bytes that its callbacks carry, with the document as its endpoint gets it. */
    getBody: async (id: string, details?: CallOptions): Promise<Bytes> =>
      (await request('GET', `/v1/deliveries/${segment(id)}/body`, details)).bytes,
    /** The signed receipt of a delivered one, as text: keep it, and check it with `verifyReceipt`. */
    receipt: async (id: string, details?: CallOptions): Promise<string> =>
      new TextDecoder().decode(
        (await request('GET', `/v1/deliveries/${segment(id)}/receipt`, details)).bytes,
      ),
    /** The next attempt of a pending one is due now, in the same run; older updates of its payment go first. */
    retry: (id: string, details?: CallOptions) =>
      call<ReplayedDelivery>('POST', `/v1/deliveries/${segment(id)}/retry`, {
        ...details,
        isSafe: true,
      }),
    /** One that has ended: the same bytes and `webhook-id` again, for a new run of 7 days. */
    replay: (id: string, details?: CallOptions) =>
      call<ReplayedDelivery>('POST', `/v1/deliveries/${segment(id)}/replay`, details),
  }

  return deliveries
}

export function paymentCalls({ get }: Caller) {
  async function* paymentPages(query: PaymentQuery = {}, details?: CallOptions) {
    for (let after = query.after; ; ) {
      const page = await payments.list({ ...query, after }, details)
      yield page
      if (page.next === null) return
      after = page.next
    }
  }

  const payments = {
    /** The payment as it is now. */
    get: (id: string, details?: CallOptions) =>
      get<PaymentDetail>(`/v1/payments/${segment(id)}`, undefined, details),
    /** Newest first, each with how its deliveries stand. */
    list: (query: PaymentQuery = {}, details?: CallOptions) =>
      get<CursorPage<PaymentItem>>('/v1/payments', query, details),
    pages: paymentPages,
    async *all(query?: PaymentQuery, details?: CallOptions) {
      for await (const { items } of paymentPages(query, details)) yield* items
    },
  }

  return payments
}

export function eventCalls({ get, request }: Caller) {
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

  return events
}
