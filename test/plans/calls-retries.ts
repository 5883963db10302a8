// The statements of a retry.

import { inTransaction } from '../../server/store/db.ts'
import {
  isFailing,
  markRetried,
  probeResumed,
  retryDeliveries,
  retryDeliveriesOf,
} from '../../server/store/retries.ts'
import type { Recorder } from './recorder.ts'
import type { Sample } from './sample.ts'

export async function callRetries(
  recorder: Recorder,
  { now, pending, clientKey, endpointId }: Sample,
): Promise<void> {
  const { pool } = recorder
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
