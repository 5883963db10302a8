// Every span of the delivery clock that PAYBELL_TIME_SCALE divides. The parts of the service hold these
// objects and look into them with each decision, so the sandbox can change its scale while it runs.

import { DAY_MS, type RetryPolicy, retryPolicy } from '../core/backoff.ts'
import { type CircuitPolicy, circuitPolicy } from '../core/circuit.ts'
import { type NoticePolicy, noticePolicy } from '../core/notice.ts'
import type { Config } from './config.ts'

export interface ScaledSpans {
  retry: RetryPolicy
  circuit: CircuitPolicy
  patienceMs: number
  disableAfterMs: number
  notices: { policy: NoticePolicy; settledAfterMs: number }
}

const HOUR_MS = 3_600_000

export function scaledSpans({
  timeScale,
  orderPatienceMs,
}: Pick<Config, 'timeScale' | 'orderPatienceMs'>): ScaledSpans {
  return {
    retry: retryPolicy(timeScale),
    circuit: circuitPolicy(timeScale),
    // "7d" is for never giving way: no update fails for longer than its 7 days.
    patienceMs:
      orderPatienceMs >= 7 * DAY_MS ? Number.POSITIVE_INFINITY : orderPatienceMs / timeScale,
    // A little more than the 7 days: what waited behind an exhausted update gets its chance first.
    disableAfterMs: (7 * DAY_MS + HOUR_MS) / timeScale + 2_000,
    notices: {
      policy: noticePolicy(timeScale),
      // Longer than any statement may take; in a sandbox that runs fast, nobody waits that long.
      settledAfterMs: Math.max(1_000, 12_000 / timeScale),
    },
  }
}
