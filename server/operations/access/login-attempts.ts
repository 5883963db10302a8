// Limits wrong logins: ten at once and then one in five seconds for each name at each address, so that
// guessing is slow and the rightful owner at another address is never locked out; and fifty at once and
// then five a second for an address as a whole, whatever names it tries.

import { toAddressGroup } from '../../core/network/network-rules.ts'
import { BoundedMap } from '../../core/plain/bounded-map.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import type { Deps } from '../shared/deps.ts'
import { RateBuckets, type RateBucketsOptions } from './rate-buckets.ts'

const FAILURES_PER_NAME = { burst: 10, perSecond: 0.2, keysMax: 50_000 }
const FAILURES_PER_ADDRESS = { burst: 50, perSecond: 5, keysMax: 50_000 }

/** Logins of one key that may wait until those before them are judged. */
const WAITING_MAX = 1_000
const WELCOME_MAX = 50_000

export interface Attempter {
  /** Whose credentials these claim to be. */
  name: string
  address: string
}

export class LoginAttempts {
  readonly #perName: FailureGate
  readonly #perAddress: FailureGate
  /** Names that have logged in, with the address; the least recent is evicted first. */
  readonly #welcome = new BoundedMap<string, true>(WELCOME_MAX)

  constructor(deps: Pick<Deps, 'clock'>) {
    const monotonicMs = () => deps.clock.monotonicMs()
    this.#perName = new FailureGate({ ...FAILURES_PER_NAME, monotonicMs })
    this.#perAddress = new FailureGate({ ...FAILURES_PER_ADDRESS, monotonicMs })
  }

  /**
   * Returns what `check` returns; null means wrong. A failure is counted before the check and given back
   * when the login was right: otherwise all guesses made at once would be checked before the first counts.
   */
  async judge<T>({ name, address }: Attempter, check: () => Promise<T | null>): Promise<T | null> {
    const pair = `${name} ${address}`
    const sender = toAddressGroup(address)
    let waitSeconds = 0
    const found = await this.#perName.judge(pair, async () => {
      if (!this.#welcome.has(pair)) return this.#perAddress.judge(sender, check)
      // Unknown names at the same address, such as a company's proxy, do not hold up known ones.
      const found = await check()
      if (found === null) waitSeconds = this.#perAddress.fail(sender)
      return found
    })
    // Refused like an unknown name, or the answer would show which names have logged in here before.
    if (found === null && waitSeconds > 0) throw tooManyFailures(waitSeconds)
    if (found !== null) this.#welcome.set(pair, true)
    return found
  }
}

/** Logins of one key that are being judged, and those that wait for a slot. */
interface Crowd {
  inside: number
  waiting: ((isAdmitted: boolean) => void)[]
}

class FailureGate {
  readonly #buckets: RateBuckets
  readonly #crowds = new Map<string, Crowd>()

  constructor(options: RateBucketsOptions) {
    this.#buckets = new RateBuckets(options)
  }

  async judge<T>(key: string, check: () => Promise<T | null>): Promise<T | null> {
    const crowd = await this.#enter(key)
    let isWrong = false
    try {
      const found = await check()
      isWrong = found === null
      return found
    } finally {
      // A check that failed for a reason of ours says nothing about the caller.
      this.#leave(key, crowd, isWrong)
    }
  }

  /** Counts a failure that did not wait for a slot; returns how long others would have to wait. */
  fail(key: string): number {
    return this.#buckets.takeOrWait(key)
  }

  async #enter(key: string): Promise<Crowd> {
    const crowd = this.#crowds.get(key) ?? { inside: 0, waiting: [] }
    const waitSeconds = this.#buckets.takeOrWait(key)
    if (waitSeconds === 0) {
      crowd.inside++
      this.#crowds.set(key, crowd)
    } else if (crowd.inside === 0 || crowd.waiting.length >= WAITING_MAX) {
      throw tooManyFailures(waitSeconds)
    } else if (!(await new Promise<boolean>((resolve) => crowd.waiting.push(resolve)))) {
      throw tooManyFailures(Math.max(1, this.#buckets.waitSeconds(key)))
    }
    return crowd
  }

  #leave(key: string, crowd: Crowd, isWrong: boolean): void {
    const next = isWrong ? undefined : crowd.waiting.shift()
    if (next !== undefined) {
      // The slot goes to this one: no later login takes it.
      next(true)
      return
    }
    if (!isWrong) this.#buckets.giveBack(key)
    crowd.inside--
    if (crowd.inside > 0) return
    this.#crowds.delete(key)
    for (const refuse of crowd.waiting) refuse(false)
  }
}

function tooManyFailures(retryAfterSeconds: number): ServiceError {
  return new ServiceError('too-many-requests', 'Too many failed logins. Wait, then try again.', {
    retryAfterSeconds,
  })
}
