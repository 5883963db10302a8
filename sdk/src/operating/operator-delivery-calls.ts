// The operator's calls about deliveries: one, or all that match a filter; jobs, bodies, and what happens now.

import { type Caller, segment } from '../calling/caller.ts'
import type { PageQuery } from '../calling/endpoint-calls.ts'
import { cursorItems, pageItems } from '../calling/lists.ts'
import { type CallOptions, sleep, toJson } from '../calling/transport.ts'
import type { Bytes } from '../plain/hmac.ts'
import { readServerSentEvents } from '../plain/server-sent-events.ts'
import type {
  AcceptedEvent,
  AttemptedEvent,
  DeliveryFilter,
  Job,
  JobDetail,
  OperatorDelivery,
  OperatorDeliveryDetail,
  OperatorDeliveryQuery,
} from '../wire/operator-types.ts'
import type { CursorPage, Page, ReplayedDelivery } from '../wire/types.ts'

const DELIVERIES = '/operator/v1/deliveries'
const JOBS = '/operator/v1/jobs'
/** For calls whose answer waits until all that match were found. */
const LONG_MS = 120_000

/** How many there are, and the job that deals with them: see `jobs`. */
export interface BulkResult {
  count: number
  jobId: string
}

export type WatchedEvent =
  | { kind: 'accepted'; accepted: AcceptedEvent }
  | { kind: 'attempt'; attempt: AttemptedEvent }

export type OperatorDeliveryCalls = ReturnType<typeof operatorDeliveryCalls>
export type JobCalls = ReturnType<typeof jobCalls>
export type BodyCalls = ReturnType<typeof bodyCalls>
export type WatchCall = ReturnType<typeof watchCall>

export function operatorDeliveryCalls({ call, get, request }: Caller) {
  const act = (id: string, verb: string, details?: CallOptions & { isSafe?: boolean }) =>
    call<ReplayedDelivery>('POST', `${DELIVERIES}/${segment(id)}/${verb}`, details)

  async function actOnAll(verb: string, member: string, filter: object, details?: CallOptions) {
    const answer = await request('POST', `${DELIVERIES}/${verb}`, {
      timeoutMs: LONG_MS,
      ...details,
      body: { filter },
    })
    const counts = toJson(answer) as Record<string, number>
    const jobId = answer.headers.get('location')?.split('/').at(-1) ?? ''
    return { count: counts[member] ?? 0, jobId } satisfies BulkResult
  }

  async function count(verb: string, member: string, filter: object, details?: CallOptions) {
    const counts = await call<Record<string, number>>('POST', `${DELIVERIES}/${verb}`, {
      timeoutMs: LONG_MS,
      ...details,
      body: { filter, dryRun: true },
      isSafe: true,
    })
    return counts[member] ?? 0
  }

  return {
    /** Newest first. */
    list: (query: OperatorDeliveryQuery = {}, details?: CallOptions) =>
      get<CursorPage<OperatorDelivery>>(DELIVERIES, query, details),
    all: (query: OperatorDeliveryQuery = {}, details?: CallOptions) =>
      cursorItems<OperatorDelivery>(get, DELIVERIES, query, details),
    /** With the request, the signatures and the answers of its attempts. */
    get: (id: string, details?: CallOptions) =>
      get<OperatorDeliveryDetail>(`${DELIVERIES}/${segment(id)}`, undefined, details),
    /** The exact bytes that its callbacks carry, with the document as its endpoint gets it. */
    getBody: async (id: string, details?: CallOptions): Promise<Bytes> =>
      (await request('GET', `${DELIVERIES}/${segment(id)}/body`, details)).bytes,
    /** The signed receipt of a delivered one, as text: keep it, and check it with `verifyReceipt`. */
    receipt: async (id: string, details?: CallOptions): Promise<string> =>
      new TextDecoder().decode(
        (await request('GET', `${DELIVERIES}/${segment(id)}/receipt`, details)).bytes,
      ),
    /** The next attempt of a pending one is due now, in the same run; older updates of its payment go first. */
    retry: (id: string, details?: CallOptions) => act(id, 'retry', { ...details, isSafe: true }),
    /** One that has ended: the same bytes and `webhook-id` again, for a new run of 7 days. */
    replay: (id: string, details?: CallOptions) => act(id, 'replay', details),
    /** No attempt of it starts any more. */
    cancel: (id: string, details?: CallOptions) => act(id, 'cancel', details),
    /** All that match, are pending and whose endpoint is active are due now: at most 100,000. */
    retryAll: (filter: DeliveryFilter, details?: CallOptions) =>
      actOnAll('retry', 'retried', filter, details),
    countRetriable: (filter: DeliveryFilter, details?: CallOptions) =>
      count('retry', 'wouldRetry', filter, details),
    /** Replays all that match and have ended: at most 100,000. */
    replayAll: (filter: DeliveryFilter, details?: CallOptions) =>
      actOnAll('replay', 'replayed', filter, details),
    countReplayable: (filter: DeliveryFilter, details?: CallOptions) =>
      count('replay', 'wouldReplay', filter, details),
    /** Cancels all that match and are pending: at most 100,000. */
    cancelAll: (filter: DeliveryFilter, details?: CallOptions) =>
      actOnAll('cancel', 'cancelled', filter, details),
    countCancellable: (filter: DeliveryFilter, details?: CallOptions) =>
      count('cancel', 'wouldCancel', filter, details),
  }
}

export function jobCalls({ get }: Caller) {
  const jobs = {
    /** Newest first. */
    list: (query: PageQuery = {}, details?: CallOptions) => get<Page<Job>>(JOBS, query, details),
    all: (details?: CallOptions) => pageItems<Job>(get, JOBS, {}, details),
    /** With how its deliveries stand now. */
    get: (id: string, details?: CallOptions) =>
      get<JobDetail>(`${JOBS}/${segment(id)}`, undefined, details),
    /** Asks again and again until it is done or has failed. */
    async untilEnded(
      id: string,
      { pollMs = 1_000 }: { pollMs?: number | undefined } = {},
      details?: CallOptions,
    ): Promise<JobDetail> {
      for (;;) {
        const job = await jobs.get(id, details)
        if (job.state !== 'RUNNING') return job
        await sleep(pollMs, details?.signal)
      }
    },
  }
  return jobs
}

export function bodyCalls({ request }: Caller) {
  return {
    /** The exact bytes of the callback body, the file of a document included. */
    getBody: async (id: string, details?: CallOptions): Promise<Bytes> =>
      (await request('GET', `/operator/v1/events/${segment(id)}/body`, details)).bytes,
  }
}

export function watchCall({ stream }: Caller) {
  return async function* watch(
    details?: Pick<CallOptions, 'signal'>,
  ): AsyncGenerator<WatchedEvent, void, void> {
    const headers = { accept: 'text/event-stream' }
    const response = await stream('/operator/v1/stream', { ...details, headers })
    for await (const { event, data } of readServerSentEvents(response.body)) {
      if (event === 'accepted') yield { kind: 'accepted', accepted: JSON.parse(data) }
      if (event === 'attempt') yield { kind: 'attempt', attempt: JSON.parse(data) }
    }
  }
}
