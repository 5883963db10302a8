// The statements of a statement of completeness.

import { HOUR_MS, hourStartMs } from '../../server/core/proofs/statement.ts'
import { deleteOldMarks, markFeed, readEndedSinceMs } from '../../server/store/proofs/feed-marks.ts'
import { findLateEvents } from '../../server/store/proofs/late-events.ts'
import { countHours } from '../../server/store/proofs/statement-counts.ts'
import {
  deleteOldStatementHours,
  keepHours,
  readStoredHours,
} from '../../server/store/proofs/statement-hours.ts'
import type { Recorder } from './recorder.ts'
import type { Sample } from './sample.ts'

export async function callStatements(
  recorder: Recorder,
  { now, clientKey, endpointId }: Sample,
): Promise<void> {
  const { pool } = recorder
  const endpoint = { clientKey, id: endpointId }
  const toMs = hourStartMs(now.getTime()) + HOUR_MS
  const span = { fromMs: toMs - 72 * HOUR_MS, toMs }
  await recorder.record('', () => markFeed(pool, now))
  // One that a wrong clock has made is removed.
  await markFeed(pool, new Date(now.getTime() + HOUR_MS))
  await recorder.record('', () => markFeed(pool, now))
  await recorder.record('', () => countHours(pool, endpoint, span, now))
  await recorder.record('', () => readEndedSinceMs(pool))
  const { hours, place } = await countHours(pool, endpoint, span, now)
  const kept = { isFinal: true, reopened: 0, place, authentication: Buffer.alloc(36) }
  const counted = (hours ?? []).map((hour) => ({ ...hour, ...kept }))
  await recorder.record('', () => keepHours(pool, endpoint, counted))
  await recorder.record('', () => readStoredHours(pool, endpoint, span))
  // All of their events are newer than nothing.
  const upTo = counted.map(({ fromMs }) => ({ fromMs, place: '0' }))
  await recorder.record('', () => findLateEvents(pool, clientKey, upTo, () => true))
  await recorder.record('', () => deleteOldMarks(pool, now))
  await recorder.record('', () => deleteOldStatementHours(pool, now))
}
