// One round of notices: changes of endpoints, and ends of certificates, become events and deliveries of Paybell's own client, which the
// engine then signs, sends, retries and records like any other. The process that gets the lock decides; what
// the operator, or the client, has been notified of commits with the notices.

import type { ListeningEndpoint, NewEvent } from '../core/delivery/fan-out.ts'
import {
  decideNotices,
  type Notice,
  type NoticedEndpoint,
  type NoticePolicy,
} from '../core/delivery/notice.ts'
import type { HandedOff } from '../core/delivery/queued-delivery.ts'
import { NIL_UUID } from '../core/plain/uuid.ts'
import { handOffAfterCommit } from '../operations/accepting/after-commit.ts'
import type { Deps } from '../operations/shared/deps.ts'
import { type Db, inTransaction } from '../store/connection/db.ts'
import {
  findInternalClient,
  findNoticeEndpoint,
  readClientNoticeEndpoints,
} from '../store/endpoints/internal-endpoints.ts'
import {
  countExhausted,
  type EndpointToTell,
  endClientNotices,
  forgetDeleted,
  readEndpointsToTell,
  saveTold,
  type ToldEndpoint,
  tryLockNotices,
} from '../store/endpoints/notices.ts'
import { readFailureReasons } from '../store/endpoints/recent-failures.ts'
import { saveEventsAndFanOut } from '../store/payments/accept.ts'
import { makeCertificateNotices } from './certificate-notices.ts'
import { makeHeadNotice } from './head-notice.ts'

/** How many endpoints one round covers; the rest waits for the next. */
const ENDPOINTS_PER_ROUND = 500

/** Returns how many notices were made. */
export async function sendNotices(deps: Deps): Promise<number> {
  let count = 0
  for (const decide of [decideForOperator, decideForClients]) {
    const transact = () => inTransaction(deps.pool, (db) => decide(deps, db))
    const committed = await handOffAfterCommit(deps.engine, transact, (deliveries) => deliveries)
    count += committed.length
  }
  return count
}

async function decideForOperator(deps: Deps, db: Db): Promise<readonly HandedOff[]> {
  if (!(await tryLockNotices(db))) return []
  const clientKey = await findInternalClient(db)
  if (clientKey === null || (await findNoticeEndpoint(db, clientKey)) === null) return []
  const { events, now } = await decideRound(deps, db, clientKey, {
    policy: deps.policies.notices.policy,
    accountOf: () => NIL_UUID,
    complete: async ({ endpoint }) => endpoint,
  })
  const head = await makeHeadNotice(deps, db, clientKey, now)
  const ending = await makeCertificateNotices(deps, db, clientKey, now)
  return saveEventsAndFanOut(db, [...events, ...(head === null ? [] : [head]), ...ending], now)
}

async function decideForClients(deps: Deps, db: Db): Promise<readonly HandedOff[]> {
  if (!(await tryLockNotices(db))) return []
  const clientKey = await findInternalClient(db)
  if (clientKey === null) return []
  const addresses = await readClientNoticeEndpoints(db, clientKey)
  if (addresses.size === 0) {
    await endClientNotices(db)
    return []
  }
  const { timeScale, notices } = deps.policies
  const { events, now } = await decideRound(deps, db, clientKey, {
    policy: notices.clientPolicy,
    accountOf: ({ clientId }) => clientId,
    complete: ({ clientKey: ownerKey, endpoint }, nowMs) =>
      withReasons(db, ownerKey, endpoint, { fromMs: nowMs - HOUR_MS / timeScale, toMs: Infinity }),
  })
  // To the client's own address, and to no other endpoint of Paybell's own client.
  const given = [...addresses].map(
    ([accountId, { id, shard }]): ListeningEndpoint => ({
      clientKey,
      id,
      accountId,
      shard,
      events: null,
      document: null,
    }),
  )
  return saveEventsAndFanOut(db, events, now, given)
}

const HOUR_MS = 3_600_000

async function withReasons(
  db: Db,
  clientKey: number,
  endpoint: NoticedEndpoint,
  period: { fromMs: number; toMs: number },
): Promise<NoticedEndpoint> {
  if (endpoint.failingSinceMs === null) return endpoint
  return { ...endpoint, reasons: await readFailureReasons(db, clientKey, endpoint.id, period) }
}

interface Round {
  policy: NoticePolicy
  /** The scope of the address that notices about the endpoint go to. */
  accountOf(endpoint: NoticedEndpoint): string
  complete(given: EndpointToTell, nowMs: number): Promise<NoticedEndpoint>
}

async function decideRound(
  deps: Deps,
  db: Db,
  clientKey: number,
  { policy, accountOf, complete }: Round,
): Promise<{ events: readonly NewEvent[]; now: Date }> {
  const nowMs = deps.clock.nowMs()
  const now = new Date(nowMs)
  const settledUntil = new Date(nowMs - deps.policies.notices.settledAfterMs)
  // What is counted up to a time of a wrong clock would be passed over once it is right.
  if (!deps.clock.hasJumped) await countExhausted(db, clientKey, settledUntil, policy.reader)
  await forgetDeleted(db, policy.reader)
  const found = await readEndpointsToTell(db, clientKey, policy, {
    now,
    limit: ENDPOINTS_PER_ROUND,
  })
  const events: NewEvent[] = []
  const told: ToldEndpoint[] = []
  for (const given of found) {
    const endpoint = await complete(given, nowMs)
    const decided = decideNotices(endpoint, given.told, policy, nowMs)
    told.push({ clientKey: given.clientKey, endpointId: endpoint.id, told: decided.told })
    for (const notice of decided.notices) {
      // The endpoint stands in for a payment, so that its notices arrive in order.
      const of = { clientKey, accountId: accountOf(endpoint), paymentId: endpoint.id }
      events.push(toEvent(deps, of, notice))
    }
  }
  await saveTold(db, told, policy.reader)
  return { events, now }
}

function toEvent(
  deps: Deps,
  of: Pick<NewEvent, 'clientKey' | 'accountId' | 'paymentId'>,
  { kind, sequence, text }: Notice,
): NewEvent {
  return { ...of, id: deps.newId(), sequence, kind, text, documentHash: null, documentBytes: null }
}
