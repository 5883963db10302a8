// The statements of notices to clients; those of notices to the operator are called with the other reads and writes.

import { clientNoticePolicy } from '../../server/core/delivery/notice.ts'
import {
  forgetNoticeEndpoint,
  readClientNoticeEndpoints,
} from '../../server/store/endpoints/internal-endpoints.ts'
import {
  beginClientNotices,
  countExhausted,
  endClientNotices,
  forgetDeleted,
  readEndpointsToTell,
  saveTold,
} from '../../server/store/endpoints/notices.ts'
import { readFailureReasons } from '../../server/store/endpoints/recent-failures.ts'
import type { Recorder } from './recorder.ts'
import type { Sample } from './sample.ts'

const HOUR_MS = 3_600_000

export async function callClientNotices(recorder: Recorder, sample: Sample): Promise<void> {
  const { pool } = recorder
  const { now, clientKey, endpointId } = sample
  const policy = clientNoticePolicy(7 * 24 * HOUR_MS)
  const lastHour = { fromMs: now.getTime() - HOUR_MS, toMs: Number.POSITIVE_INFINITY }
  const told = {
    ...{ sequence: 1, failingSinceMs: null, failingTold: 0, disabledSinceMs: null },
    ...{ exhaustedTotal: 1, exhaustedUntold: 0, exhaustedToldAtMs: now.getTime() },
  }
  const label = 'for clients'
  await recorder.record('', () => beginClientNotices(pool, clientKey, new Date(0)))
  await recorder.record(label, () => countExhausted(pool, 200, now, 'client'))
  await recorder.record(label, () => forgetDeleted(pool, 'client'))
  await recorder.record(label, () => readEndpointsToTell(pool, 200, policy, { now, limit: 100 }))
  await recorder.record(label, () => saveTold(pool, [{ clientKey, endpointId, told }], 'client'))
  await recorder.record('', () => readClientNoticeEndpoints(pool, 200))
  await recorder.record('', () => forgetNoticeEndpoint(pool, 200, endpointId))
  await recorder.record('', () => endClientNotices(pool))
  await recorder.record('', () => readFailureReasons(pool, clientKey, endpointId, lastHour))
}
