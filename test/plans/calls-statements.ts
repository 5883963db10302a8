// The statements of a statement of completeness.

import { HOUR_MS, hourStartMs } from '../../server/core/statement.ts'
import { deleteOldMarks, markFeed, readEndedSinceMs } from '../../server/store/feed-marks.ts'
import { countHours } from '../../server/store/statement-counts.ts'
import {
  deleteOldStatementHours,
  keepHours,
  readKeptHours,
} from '../../server/store/statement-hours.ts'
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
  await recorder.record('', () => countHours(pool, endpoint, span))
  await recorder.record('', () => readEndedSinceMs(pool))
  const { hours } = await countHours(pool, endpoint, span)
  const counted = (hours ?? []).map((hour) => ({ ...hour, isFinal: true, reopened: 0 }))
  await recorder.record('', () => keepHours(pool, endpoint, counted))
  await recorder.record('', () => readKeptHours(pool, endpoint, span))
  await recorder.record('', () => deleteOldMarks(pool, now))
  await recorder.record('', () => deleteOldStatementHours(pool, now))
}
