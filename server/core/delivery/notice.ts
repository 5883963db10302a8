// The notices that the operator gets, and a client about its own endpoints, and when: an endpoint has been failing for
// an hour, and for longer; it has recovered; it was disabled; deliveries of it are exhausted. Each change makes one
// notice. Pure: facts and earlier notices (`Told`) go in, notices and the next `Told` come out.

import { DAY_MS } from './backoff.ts'
import type { EndpointStatus } from './endpoint.ts'
import { type FailureReason, toReasonsText } from './explanation-outcome.ts'
import { toClientCode } from './outcome-words.ts'

export type NoticeReader = 'operator' | 'client'

type Change = 'failing' | 'failing for long' | 'recovered' | 'disabled' | 'exhausted'

/** A client is warned a day before its endpoint is disabled; an operator is reminded. */
const NOTICE_KINDS = {
  operator: {
    failing: 'notice.endpoint_failing',
    'failing for long': 'notice.endpoint_failing',
    recovered: 'notice.endpoint_recovered',
    disabled: 'notice.endpoint_disabled',
    exhausted: 'notice.deliveries_exhausted',
  },
  client: {
    failing: 'endpoint.failing',
    'failing for long': 'endpoint.will_be_disabled',
    recovered: 'endpoint.recovered',
    disabled: 'endpoint.disabled',
    exhausted: 'deliveries.exhausted',
  },
} as const satisfies Record<NoticeReader, Record<Change, string>>
export type NoticeKind = (typeof NOTICE_KINDS)[NoticeReader][Change]
export const CLIENT_NOTICE_KINDS = Object.values(NOTICE_KINDS.client)

export interface NoticePolicy {
  reader: NoticeReader
  /** For how long an endpoint has failed when its first notice is made, and each further one. */
  failingAfterMs: readonly number[]
  /** Exhausted deliveries of one endpoint share a notice; there is at most one in this time. */
  exhaustedEveryMs: number
}

const MINUTE_MS = 60_000

export function noticePolicy(timeScale = 1): NoticePolicy {
  return {
    reader: 'operator',
    failingAfterMs: [60 * MINUTE_MS, DAY_MS, 3 * DAY_MS, 6 * DAY_MS].map((ms) => ms / timeScale),
    exhaustedEveryMs: (5 * MINUTE_MS) / timeScale,
  }
}

/** `disableAfterMs`: nothing but failures for this long disables an endpoint. */
export function clientNoticePolicy(disableAfterMs: number, timeScale = 1): NoticePolicy {
  return {
    reader: 'client',
    failingAfterMs: [(60 * MINUTE_MS) / timeScale, disableAfterMs - DAY_MS / timeScale],
    exhaustedEveryMs: (60 * MINUTE_MS) / timeScale,
  }
}

/** An endpoint as it is now. */
export interface NoticedEndpoint {
  id: string
  kind: string
  clientId: string
  accountId: string | null
  url: string
  status: EndpointStatus
  inactiveSinceMs: number | null
  failingSinceMs: number | null
  lastSuccessAtMs: number | null
  lastError: string | null
  pending: number
  /** Of its failures in the last hour, where they were asked for. */
  reasons?: readonly FailureReason[]
}

/** What the notices so far have said of it. */
export interface Told {
  sequence: number
  failingSinceMs: number | null
  failingTold: number
  disabledSinceMs: number | null
  exhaustedTotal: number
  exhaustedUntold: number
  exhaustedToldAtMs: number | null
}

export interface Notice {
  kind: NoticeKind
  sequence: number
  text: string
}

/** The notices that are due now, in order, and what has been said once they are on their way. */
export function decideNotices(
  endpoint: NoticedEndpoint,
  before: Told,
  policy: NoticePolicy,
  nowMs: number,
): { notices: readonly Notice[]; told: Told } {
  const told = { ...before }
  const notices: Notice[] = []
  const tell = (change: Change, exhausted = 0) => {
    told.sequence++
    const kind = NOTICE_KINDS[policy.reader][change]
    const toText = policy.reader === 'client' ? clientNoticeText : noticeText
    const text = toText(kind, endpoint, { ...told, exhausted }, nowMs)
    notices.push({ kind, sequence: told.sequence, text })
  }
  if (hasRecovered(endpoint, told)) {
    told.failingSinceMs = null
    told.failingTold = 0
    tell('recovered')
  }
  const steps = failingSteps(endpoint, policy, nowMs)
  if (steps > told.failingTold) {
    told.failingSinceMs = endpoint.failingSinceMs
    told.failingTold = steps
    tell(steps === policy.failingAfterMs.length ? 'failing for long' : 'failing')
  }
  const exhaustedToldAtMs = told.exhaustedToldAtMs ?? Number.NEGATIVE_INFINITY
  if (told.exhaustedUntold > 0 && nowMs - exhaustedToldAtMs >= policy.exhaustedEveryMs) {
    const exhausted = told.exhaustedUntold
    told.exhaustedUntold = 0
    told.exhaustedToldAtMs = nowMs
    tell('exhausted', exhausted)
  }
  if (endpoint.status === 'DISABLED' && told.disabledSinceMs !== endpoint.inactiveSinceMs) {
    told.disabledSinceMs = endpoint.inactiveSinceMs
    tell('disabled')
  }
  return { notices, told }
}

/** A notice said that it fails, and it has succeeded since, even if it fails again by now. */
function hasRecovered({ failingSinceMs }: NoticedEndpoint, told: Told): boolean {
  if (told.failingSinceMs === null) return false
  return failingSinceMs === null || failingSinceMs > told.failingSinceMs
}

/** How many of the steps have passed. An endpoint is not attempted while it is paused or disabled. */
function failingSteps(endpoint: NoticedEndpoint, policy: NoticePolicy, nowMs: number): number {
  const { failingSinceMs, status } = endpoint
  if (failingSinceMs === null || status !== 'ACTIVE') return 0
  return policy.failingAfterMs.filter((ms) => failingSinceMs + ms <= nowMs).length
}

/**
 * The whole state of the endpoint each time, with running totals: as with payments, a later notice
 * says all that an earlier one did. `at` comes last, because no body but a payment's with a document
 * may end in two braces (core/delivery/callback).
 */
function noticeText(
  kind: NoticeKind,
  endpoint: NoticedEndpoint,
  counts: { exhausted: number; exhaustedTotal: number },
  nowMs: number,
): string {
  return JSON.stringify({
    type: kind,
    endpoint: {
      id: endpoint.id,
      kind: endpoint.kind,
      clientId: endpoint.clientId,
      accountId: endpoint.accountId,
      endpointUrl: withoutQuery(endpoint.url),
      status: endpoint.status,
      failingSince: toText(endpoint.failingSinceMs),
      lastSuccessAt: toText(endpoint.lastSuccessAtMs),
      lastError: endpoint.failingSinceMs === null ? null : endpoint.lastError,
      pending: endpoint.pending,
      exhaustedTotal: counts.exhaustedTotal,
    },
    ...(counts.exhausted > 0 ? { exhausted: counts.exhausted } : {}),
    at: toText(nowMs),
  })
}

/** As above, with the reasons in words, and without what a client must not learn of the operator's network. */
function clientNoticeText(
  kind: NoticeKind,
  endpoint: NoticedEndpoint,
  counts: { exhausted: number; exhaustedTotal: number },
  nowMs: number,
): string {
  const isFailing = endpoint.failingSinceMs !== null
  const reasons = isFailing ? (endpoint.reasons ?? []) : []
  return JSON.stringify({
    type: kind,
    endpoint: {
      id: endpoint.id,
      kind: endpoint.kind,
      accountId: endpoint.accountId,
      endpointUrl: withoutQuery(endpoint.url),
      status: endpoint.status,
      failingSince: toText(endpoint.failingSinceMs),
      lastSuccessAt: toText(endpoint.lastSuccessAtMs),
      lastError: isFailing && endpoint.lastError ? toClientCode(endpoint.lastError) : null,
      pending: endpoint.pending,
      exhaustedTotal: counts.exhaustedTotal,
    },
    ...(counts.exhausted > 0 ? { exhausted: counts.exhausted } : {}),
    reasons: toReasonsText(reasons),
    at: toText(nowMs),
  })
}

/** Notices are read in chats and mailboxes, and a query may be a credential. */
function withoutQuery(url: string): string {
  const at = url.indexOf('?')
  return at < 0 ? url : url.slice(0, at)
}

function toText(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
