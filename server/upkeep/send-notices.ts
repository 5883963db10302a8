// One round of notices: changes of endpoints become events and deliveries of Paybell's own client, which the
// engine then signs, sends, retries and records like any other. The process that gets the lock decides; what
// the operator has been notified of commits with the notices.

import type { NewEvent } from '../core/fan-out.ts'
import { decideNotices } from '../core/notice.ts'
import type { HandedOff } from '../core/queued-delivery.ts'
import { NIL_UUID } from '../core/uuid.ts'
import type { Deps } from '../operations/parts/deps.ts'
import { handingOff } from '../operations/parts/hand-off.ts'
import { saveEventsAndFanOut } from '../store/accept.ts'
import { type Db, inTransaction } from '../store/db.ts'
import { findInternalClient, findNoticeEndpoint } from '../store/notice-endpoint.ts'
import {
  countExhausted,
  forgetDeleted,
  readEndpointsToTell,
  saveTold,
  type ToldEndpoint,
  tryLockNotices,
} from '../store/notices.ts'
import { makeHeadNotice } from './head-notice.ts'

/** How many endpoints one round covers; the rest waits for the next. */
const ENDPOINTS_PER_ROUND = 500

/** Returns how many notices were made. */
export async function sendNotices(deps: Deps): Promise<number> {
  const transact = () => inTransaction(deps.pool, (db) => decideRound(deps, db))
  const committed = await handingOff(deps.engine, transact, (deliveries) => deliveries)
  return committed.length
}

async function decideRound(deps: Deps, db: Db): Promise<readonly HandedOff[]> {
  const { policy, settledAfterMs } = deps.policies.current.notices
  if (!(await tryLockNotices(db))) return []
  const clientKey = await findInternalClient(db)
  if (clientKey === null || (await findNoticeEndpoint(db, clientKey)) === null) return []
  const nowMs = deps.clock.nowMs()
  const now = new Date(nowMs)
  await countExhausted(db, clientKey, new Date(nowMs - settledAfterMs))
  await forgetDeleted(db)
  const endpoints = await readEndpointsToTell(db, clientKey, policy, {
    now,
    limit: ENDPOINTS_PER_ROUND,
  })
  const events: NewEvent[] = []
  const told: ToldEndpoint[] = []
  for (const { clientKey: ownerKey, endpoint, told: before } of endpoints) {
    const decided = decideNotices(endpoint, before, policy, now.getTime())
    told.push({ clientKey: ownerKey, endpointId: endpoint.id, told: decided.told })
    for (const { kind, sequence, text } of decided.notices) {
      events.push({
        clientKey,
        id: deps.newId(),
        // The endpoint stands in for a payment, so that its notices arrive in order.
        paymentId: endpoint.id,
        accountId: NIL_UUID,
        sequence,
        kind,
        text,
        documentHash: null,
        documentBytes: null,
      })
    }
  }
  await saveTold(db, told)
  const head = await makeHeadNotice(deps, db, clientKey, now)
  if (head !== null) events.push(head)
  return saveEventsAndFanOut(db, events, now)
}
