// Token buckets in memory, one per key: each refills steadily and allows a burst. The number of keys
// is bounded: the least recently used is forgotten first, and a forgotten bucket counts as full.

import { BoundedMap } from '../../core/plain/bounded-map.ts'

export interface RateBucketsOptions {
  burst: number
  perSecond: number
  keysMax: number
  monotonicMs(): number
}

export interface BucketLevel {
  quota: number
  /** In which an empty bucket fills. */
  periodSeconds: number
  remaining: number
  fullInSeconds: number
}

interface Bucket {
  tokens: number
  filledAtMs: number
}

export class RateBuckets {
  readonly #options: RateBucketsOptions
  readonly #buckets: BoundedMap<string, Bucket>
  #lastTaken: string | null = null

  constructor(options: RateBucketsOptions) {
    this.#options = options
    this.#buckets = new BoundedMap(options.keysMax)
  }

  get size(): number {
    return this.#buckets.size
  }

  /** Whole seconds until the key may go on; 0 means now. Takes nothing. */
  waitSeconds(key: string): number {
    return this.#waitFor(this.#filled(key))
  }

  /** How full the key's bucket is. Takes nothing. */
  look(key: string): BucketLevel {
    const { burst, perSecond } = this.#options
    const { tokens } = this.#filled(key)
    return {
      quota: burst,
      periodSeconds: Math.ceil(burst / perSecond),
      remaining: Math.floor(tokens),
      fullInSeconds: Math.ceil((burst - tokens) / perSecond),
    }
  }

  /** Takes one token, down to an empty bucket. */
  take(key: string): void {
    this.#takeFrom(this.#filled(key), key)
  }

  /** Takes one token and returns 0; or takes nothing and returns how many seconds to wait. */
  takeOrWait(key: string): number {
    const bucket = this.#filled(key)
    const waitSeconds = this.#waitFor(bucket)
    if (waitSeconds === 0) this.#takeFrom(bucket, key)
    return waitSeconds
  }

  /** Undoes one `take`. A bucket that is full again is forgotten. */
  giveBack(key: string): void {
    const bucket = this.#buckets.get(key)
    if (bucket === undefined) return
    bucket.tokens = this.#filled(key).tokens + 1
    if (bucket.tokens < this.#options.burst) return
    this.#buckets.delete(key)
    if (key === this.#lastTaken) this.#lastTaken = null
  }

  #waitFor(bucket: Bucket): number {
    const missing = 1 - bucket.tokens
    return missing <= 0 ? 0 : Math.max(1, Math.ceil(missing / this.#options.perSecond))
  }

  #takeFrom(bucket: Bucket, key: string): void {
    bucket.tokens = Math.max(0, bucket.tokens - 1)
    if (key === this.#lastTaken) return
    this.#lastTaken = key
    // Set again, so that the map's order is the order of last use.
    this.#buckets.set(key, bucket)
  }

  #filled(key: string): Bucket {
    const nowMs = this.#options.monotonicMs()
    const bucket = this.#buckets.get(key)
    if (bucket === undefined) return { tokens: this.#options.burst, filledAtMs: nowMs }
    const gained = ((nowMs - bucket.filledAtMs) / 1_000) * this.#options.perSecond
    bucket.tokens = Math.min(this.#options.burst, bucket.tokens + gained)
    bucket.filledAtMs = nowMs
    return bucket
  }
}
