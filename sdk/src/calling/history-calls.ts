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
import { cursorItems, cursorPages } from './lists.ts'
import { type CallOptions, sleep } from './transport.ts'

const DELIVERIES = '/v1/deliveries'
const PAYMENTS = '/v1/payments'

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
  return {
    /** Newest first. */
    list: (query: DeliveryQuery = {}, details?: CallOptions) =>
      get<CursorPage<Delivery>>(DELIVERIES, query, details),
    pages: (query: DeliveryQuery = {}, details?: CallOptions) =>
      cursorPages<Delivery>(get, DELIVERIES, query, details),
    all: (query: DeliveryQuery = {}, details?: CallOptions) =>
      cursorItems<Delivery>(get, DELIVERIES, query, details),
    get: (id: string, details?: CallOptions) =>
      get<DeliveryDetail>(`${DELIVERIES}/${segment(id)}`, undefined, details),
    /** The exact bytes that its callbacks carry, with the document as its endpoint gets it. */
    getBody: async (id: string, details?: CallOptions): Promise<Bytes> =>
      (await request('GET', `${DELIVERIES}/${segment(id)}/body`, details)).bytes,
    /** The signed receipt of a delivered one, as text: keep it, and check it with `verifyReceipt`. */
    receipt: async (id: string, details?: CallOptions): Promise<string> =>
      new TextDecoder().decode(
        (await request('GET', `${DELIVERIES}/${segment(id)}/receipt`, details)).bytes,
      ),
    /** The next attempt of a pending one is due now, in the same run; older updates of its payment go first. */
    retry: (id: string, details?: CallOptions) =>
      call<ReplayedDelivery>('POST', `${DELIVERIES}/${segment(id)}/retry`, {
        ...details,
        isSafe: true,
      }),
    /** One that has ended: the same bytes and `webhook-id` again, for a new run of 7 days. */
    replay: (id: string, details?: CallOptions) =>
      call<ReplayedDelivery>('POST', `${DELIVERIES}/${segment(id)}/replay`, details),
  }
}

export function paymentCalls({ get }: Caller) {
  return {
    /** The payment as it is now. */
    get: (id: string, details?: CallOptions) =>
      get<PaymentDetail>(`${PAYMENTS}/${segment(id)}`, undefined, details),
    /** Newest first, each with how its deliveries stand. */
    list: (query: PaymentQuery = {}, details?: CallOptions) =>
      get<CursorPage<PaymentItem>>(PAYMENTS, query, details),
    pages: (query: PaymentQuery = {}, details?: CallOptions) =>
      cursorPages<PaymentItem>(get, PAYMENTS, query, details),
    all: (query: PaymentQuery = {}, details?: CallOptions) =>
      cursorItems<PaymentItem>(get, PAYMENTS, query, details),
  }
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
