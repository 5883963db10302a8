// The statements of a retry, of what an endpoint was never owed, and of notices to clients.

import { NIL_UUID } from '../../server/core/plain/uuid.ts'
import { inTransaction } from '../../server/store/connection/db.ts'
import { makeMissing, readEventIds } from '../../server/store/owed/missing-events.ts'
import {
  isFailing,
  markRetried,
  probeResumed,
  retryDeliveries,
  retryDeliveriesOf,
} from '../../server/store/owed/retries.ts'
import { callClientNotices } from './calls-notices.ts'
import type { Recorder } from './recorder.ts'
import type { Sample } from './sample.ts'

export async function callRetries(recorder: Recorder, sample: Sample): Promise<void> {
  const { pool } = recorder
  const { now, pending, cancelled, clientKey, endpointId } = sample
  await callClientNotices(recorder, sample)
  const within = { fromMs: now.getTime() - 86_400_000, toMs: now.getTime() }
  const selection = { clientKey, accountId: null, kinds: ['payment.paid'] }
  await recorder.record('', () => readEventIds(pool, selection, within, NIL_UUID, 1_000))
  await recorder.record('', () => inTransaction(pool, (db) => makeMissing(db, cancelled, now, now)))
  const keys = pending.slice(0, 20)
  await recorder.record('', () => inTransaction(pool, (db) => markRetried(db, keys, now)))
  await recorder.record('', () => probeResumed(pool, clientKey, endpointId, now))
  await recorder.record('', () => isFailing(pool, clientKey, endpointId))
  for (const isWaiting of [true, false]) {
    await recorder.record(isWaiting ? 'of one' : 'of many', () =>
      inTransaction(pool, (db) => retryDeliveries(db, keys, now, { isWaiting })),
    )
  }
  await recorder.record('', () => retryDeliveriesOf(pool, clientKey, endpointId, null, now))
}
