// How often a client may ask for retries of one endpoint, and the answer where it is not active.

import type { Clock } from '../../core/plain/clock.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import { RateBuckets } from '../access/rate-buckets.ts'

/** Each retry makes the owner of the endpoint read again what it is owed. */
export class RetryLimits {
  readonly #rate: RateBuckets

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#rate = new RateBuckets({
      burst: 100,
      perSecond: 5,
      keysMax: 10_000,
      monotonicMs: () => clock.monotonicMs(),
    })
  }

  /** Throws when too many were asked for. */
  admit(endpointId: string): void {
    const waitSeconds = this.#rate.waitSeconds(endpointId)
    if (waitSeconds > 0) {
      throw new ServiceError(
        'too-many-requests',
        'Retries of one endpoint are taken 100 in a row, then five a second. Retry the endpoint itself: that makes all its pending deliveries due.',
        { retryAfterSeconds: waitSeconds },
      )
    }
    this.#rate.take(endpointId)
  }
}

export function endpointNotActive(): ServiceError {
  return new ServiceError(
    'endpoint-not-active',
    'The endpoint is paused or disabled, so nothing is sent to it. Resume it, with PATCH and {"status": "ACTIVE"}: all its pending deliveries are due at once then.',
  )
}
