// The public keys of assertions as anyone may ask for them, for any id: so that it does not tell which clients there are.
// Computing a set takes 2 ms of CPU; each is kept for a minute, and an address that asks for many has to wait.

import { toAddressGroup } from '../../core/network/network-rules.ts'
import { BoundedMap } from '../../core/plain/bounded-map.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import type { AssertionJwk } from '../../core/tokens/assertion-key.ts'
import { RateBuckets } from '../access/rate-buckets.ts'
import type { Deps } from '../shared/deps.ts'
import { assertionKeys } from './sign-assertion.ts'

const COMPUTED = { burst: 50, perSecond: 5, keysMax: 10_000 }
const SETS_MAX = 1_000
const AGE_MS_MAX = 60_000

export type PublishedKey = AssertionJwk & { kid: string }

interface KeySet {
  atMs: number
  keys: readonly PublishedKey[]
}

export class PublishedAssertionKeys {
  readonly #deps: Pick<Deps, 'sealer' | 'clock'>
  readonly #computed: RateBuckets
  readonly #sets = new BoundedMap<string, KeySet>(SETS_MAX)

  constructor(deps: Pick<Deps, 'sealer' | 'clock'>) {
    this.#deps = deps
    this.#computed = new RateBuckets({ ...COMPUTED, monotonicMs: () => deps.clock.monotonicMs() })
  }

  /** Throws when this address has asked for too many that had to be computed. */
  of(clientId: string, address: string): readonly PublishedKey[] {
    const id = clientId.toLowerCase()
    const atMs = this.#deps.clock.monotonicMs()
    const cached = this.#sets.get(id)
    if (cached !== undefined && atMs - cached.atMs < AGE_MS_MAX) return cached.keys
    const retryAfterSeconds = this.#computed.takeOrWait(toAddressGroup(address))
    if (retryAfterSeconds > 0) {
      const detail = 'Too many different clients’ keys were requested. Wait, then go on.'
      throw new ServiceError('too-many-requests', detail, { retryAfterSeconds })
    }
    const keys = assertionKeys(this.#deps, id).map(({ kid, jwk }) => ({ ...jwk, kid }))
    this.#sets.set(id, { atMs, keys })
    return keys
  }
}
