// Deliberate faults in who owns what is delivered: leases, what is allowed under them, and how they change hands.

import { type Mutant, patch, type TestedMutant } from './mutant.ts'

export const LEASE_MUTANTS: readonly (Mutant | TestedMutant)[] = [
  {
    name: 'lease shorter than the attempt',
    patches: [
      patch('core/delivery/lease.ts', 'leaseMs: 25_000', 'leaseMs: 8_000'),
      patch(
        'core/delivery/lease.ts',
        'cautiousMs > policy.attemptMsMax + policy.recordingMsMax',
        'cautiousMs > policy.recordingMsMax',
      ),
    ],
  },
  {
    name: 'lease counted from the reply',
    patches: [
      patch(
        'delivery/leases/shards.ts',
        'Object.assign(lease, now, this.#endsOf(sentAt))',
        'Object.assign(lease, now, this.#endsOf({ ...sentAt, ...this.#readClocks() }))',
      ),
      patch(
        'delivery/leases/shards.ts',
        '{ ...lease, ...this.#endsOf(sentAt) }',
        '{ ...lease, ...this.#endsOf({ ...sentAt, ...this.#readClocks() }) }',
      ),
    ],
  },
  {
    // Each of the two alone is made up for by the other, but for the moment between them: see the next.
    name: 'no check before sending',
    patches: [
      patch(
        'delivery/leases/shards.ts',
        'return hasRoom(lease, this.#policy, this.#environment.cautiousMs())',
        'return hasRoom !== null',
      ),
      patch(
        'delivery/leases/shards.ts',
        'Number.NEGATIVE_INFINITY : attemptBeginsByMs(lease, this.#policy)',
        'Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY',
      ),
    ],
  },
  {
    name: 'the lease is not compared again when the send begins',
    patches: [
      patch(
        'delivery/leases/shards.ts',
        'Number.NEGATIVE_INFINITY : attemptBeginsByMs(lease, this.#policy)',
        'Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY',
      ),
    ],
  },
  {
    name: 'lease taken before it was silent long enough',
    patches: [
      patch(
        'delivery/leases/shards.ts',
        'const silent = this.#others.silentFor(this.#policy.leaseMs,',
        'const silent = this.#others.silentFor(this.#policy.leaseMs / 5,',
      ),
    ],
  },
  {
    name: 'silence counted on a clock that jumps ahead',
    patches: [
      patch(
        'delivery/leases/shards.ts',
        'silentFor(this.#policy.leaseMs, sentAt.monotonicMs)\n    if',
        'silentFor(this.#policy.leaseMs, sentAt.cautiousMs)\n    if',
      ),
    ],
  },
  {
    name: 'own lease counted on a clock that sleeps',
    patches: [
      patch(
        'delivery/leases/shards.ts',
        'cautiousMs: cautiousMs() }',
        'cautiousMs: cautiousMs === null ? 0 : clock.monotonicMs() }',
      ),
      patch(
        'delivery/leases/shards.ts',
        'return hasRoom(lease, this.#policy, this.#environment.cautiousMs())',
        'return hasRoom(lease, this.#policy, this.#clock.monotonicMs())',
      ),
    ],
  },
  {
    name: 'refused record is resent',
    patches: [
      patch(
        'delivery/attempts/recorder.ts',
        'for (const lease of recorded.lost) this.#leases.refused(lease)',
        'void recorded.lost',
      ),
    ],
  },
  {
    name: 'a stop is not announced',
    patches: [
      patch(
        'delivery/leases/shards.ts',
        'await this.#environment.store.leave(busy)\n    this.#environment.wakeUps?.announceLeases()',
        'await this.#environment.store.leave(busy)',
      ),
    ],
  },
  {
    name: 'stop without hand-over',
    patches: [patch('delivery/engine.ts', 'this.#shards.leave()', 'Promise.resolve()')],
  },
  {
    name: 'hand-off to a shard gained since',
    patches: [
      patch(
        'delivery/owing/hand-off.ts',
        'return !isOurs || this.#watch.isOutdated(delivery)',
        'return isOurs !== null && this.#watch.isOutdated(delivery)',
      ),
    ],
    test: 'server/delivery/engine.test.ts',
  },
]
