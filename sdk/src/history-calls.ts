// The calls about what has happened: deliveries, newest first, and the feed of events, oldest first.

import { type Caller, segment } from './caller.ts'
import type { Bytes } from './hmac.ts'
import { type CallOptions, sleep } from './transport.ts'
import type {
  CursorPage,
  Delivery,
  DeliveryDetail,
  DeliveryState,
  EventPage,
  ReplayedDelivery,
} from './types.ts'

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

export type DeliveryCalls = ReturnType<typeof deliveryCalls>
export type EventCalls = ReturnType<typeof eventCalls>

export function deliveryCalls({ call, get }: Caller) {
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

  return deliveries
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
