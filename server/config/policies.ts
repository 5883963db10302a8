// Every span of the delivery clock that PAYBELL_TIME_SCALE divides: values that hold from the start to the end.

import { DAY_MS, type RetryPolicy, retryPolicy } from '../core/delivery/backoff.ts'
import { type CircuitPolicy, circuitPolicy } from '../core/delivery/circuit.ts'
import { KEY_OVERLAP_MS } from '../core/delivery/endpoint.ts'
import { clientNoticePolicy, type NoticePolicy, noticePolicy } from '../core/delivery/notice.ts'
import type { Config } from './config.ts'

export interface Policies {
  /** How many times faster than the wall clock the delivery clock runs. */
  readonly timeScale: number
  readonly retry: Readonly<RetryPolicy>
  readonly circuit: Readonly<CircuitPolicy>
  readonly patienceMs: number
  readonly disableAfterMs: number
  /** After a rotation the old key signs beside the new one for this long. */
  readonly keyOverlapMs: number
  readonly notices: NoticeTiming
}

export interface NoticeTiming {
  readonly policy: Readonly<NoticePolicy>
  readonly clientPolicy: Readonly<NoticePolicy>
  /** No transaction takes longer: what was exhausted so long ago is all there. */
  readonly settledAfterMs: number
  readonly everyMs: number
}

type ScaledSettings = Pick<Config, 'timeScale' | 'orderPatienceMs'>

/** What tests shorten besides. */
type Compressed = Partial<Pick<Policies, 'retry' | 'circuit' | 'patienceMs' | 'disableAfterMs'>>

const HOUR_MS = 3_600_000

export function policiesOf(settings: ScaledSettings, compressed: Compressed = {}): Policies {
  const policies = scaled(settings)
  const { retry, circuit, patienceMs, disableAfterMs } = { ...policies, ...compressed }
  return { ...policies, retry, circuit, patienceMs, disableAfterMs }
}

function scaled({ timeScale, orderPatienceMs }: ScaledSettings): Policies {
  return {
    timeScale,
    retry: retryPolicy(timeScale),
    circuit: circuitPolicy(timeScale),
    // "7d" is for never giving way: no update fails for longer than its 7 days.
    patienceMs:
      orderPatienceMs >= 7 * DAY_MS ? Number.POSITIVE_INFINITY : orderPatienceMs / timeScale,
    disableAfterMs: disableAfterMs(timeScale),
    keyOverlapMs: KEY_OVERLAP_MS / timeScale,
    notices: {
      policy: noticePolicy(timeScale),
      clientPolicy: clientNoticePolicy(disableAfterMs(timeScale), timeScale),
      // Longer than any statement may take. A sandbox that runs fast does not wait that long.
      settledAfterMs: Math.max(1_000, 12_000 / timeScale),
      everyMs: Math.max(1_000, 30_000 / timeScale),
    },
  }
}

/** A little more than the 7 days: what waited for an exhausted update gets its chance first. */
function disableAfterMs(timeScale: number): number {
  return (7 * DAY_MS + HOUR_MS) / timeScale + 2_000
}
