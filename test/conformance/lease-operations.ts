// Random operations on leases: renewed, taken, given up, by two processes, as they are or as they were
// before.

import assert from 'node:assert/strict'
import type { RenewedLease, ShardEpoch } from '../../server/core/delivery/lease.ts'
import type { EndedSign, Sign, SignedProcess } from '../../server/core/delivery/session-signs.ts'
import type { Renewal } from '../../server/store/owed/leases.ts'
import type { Dice } from '../simulator/dice.ts'
import { type BothStores, POLICY } from './both-stores.ts'

const NOTHING_SEEN: Renewal = {
  nowMs: 0,
  held: [],
  others: new Map(),
  processes: new Map(),
  free: 0,
  signed: [],
  server: '',
}

interface Seen {
  found: Renewal
  twin: Renewal
}

export class LeaseOperations {
  readonly #both: BothStores
  readonly #dice: Dice
  /** The last renewal of each process, from both. */
  readonly #seen = [NOTHING_SEEN, NOTHING_SEEN].map((seen) => ({ found: seen, twin: seen }))
  #picked: readonly unknown[] = []
  #turn = 5

  constructor(both: BothStores, dice: Dice) {
    this.#both = both
    this.#dice = dice
  }

  async renew(): Promise<void> {
    const process = this.#process()
    const seen = this.#seen[process] as Seen
    const sign = this.#sign()
    const gone = this.#some(seen.found.processes)
    const settled = this.#settled()
    const ended = this.#ended()
    const found = await this.#both.store(process).renewLeases(gone, sign, settled, ended)
    const renewal = this.#both.twin.leases.renewLeases(
      this.#both.processes[process],
      POLICY.leaseMs,
      this.#like(seen.twin.processes),
      sign,
      settled,
      ended,
      found.nowMs,
    )
    assert.deepEqual(byShard(renewal.held), byShard(found.held))
    assert.equal(renewal.free, found.free)
    sameKeys(renewal.others, found.others)
    sameKeys(renewal.processes, found.processes)
    assert.deepEqual(sorted(renewal.signed), sorted(found.signed))
    // What has changed since the last look has changed for both.
    for (const kind of ['others', 'processes'] as const) {
      const changed = (one: Renewal, before: Renewal) =>
        [...one[kind]].filter(([key, mark]) => before[kind].get(key as never) !== mark).length
      assert.equal(changed(renewal, seen.twin), changed(found, seen.found))
    }
    this.#seen[process] = { found, twin: renewal }
  }

  /** None, or one of a few; now and then of a turn that is over. */
  #sign(): Sign {
    const name = this.#dice.pick([null, 'one', 'other'])
    return { turn: ++this.#turn - this.#dice.pick([0, 0, 1, 5]), name }
  }

  /** Of any process, under the sign that it has or had, or under one that it never had. */
  #ended(): EndedSign[] {
    return this.#both.processes.flatMap((id) =>
      this.#dice.chance(0.5)
        ? [{ id, name: this.#dice.pick(['one', 'other', 'none']), forMs: this.#dice.whole(0, 9) }]
        : [],
    )
  }

  /** Some of what was seen before, and then the same of what the twin showed. */
  #some<Key>(marks: ReadonlyMap<Key, string>): ReadonlyMap<Key, string> {
    this.#picked = [...marks.keys()].filter(() => this.#dice.chance(0.5))
    return this.#like(marks)
  }

  #like<Key>(marks: ReadonlyMap<Key, string>): ReadonlyMap<Key, string> {
    return new Map((this.#picked as Key[]).map((key) => [key, marks.get(key) ?? '']))
  }

  async take(): Promise<void> {
    const process = this.#process()
    const wanted = this.#dice.pick([0, 5, 40, 64])
    const { twin, processes } = this.#both
    const seen = this.#seen[process] as Seen
    const silent = this.#some(seen.found.others)
    const early = [...silent.keys()].filter(() => this.#dice.chance(0.5))
    const found = await this.#both.store(process).takeLeases(wanted, silent, early)
    const { leaseMs } = POLICY
    const alike = this.#like(seen.twin.others)
    const taken = twin.leases.takeLeases(
      processes[process],
      wanted,
      leaseMs,
      alike,
      early,
      this.#both.nowMs,
    )
    assert.deepEqual(byShard(taken), byShard(found))
  }

  /** Of any owner; some under an epoch that is over. */
  #settled(): ShardEpoch[] {
    const leases = [...this.#both.twin.tables.leases.values()]
    return leases.flatMap(({ shard, epoch }) =>
      this.#dice.chance(0.2) ? [{ shard, epoch: epoch - this.#dice.pick([0, 0, 1]) }] : [],
    )
  }

  async release(shards: readonly number[]): Promise<void> {
    const process = this.#process()
    const leases = this.#leasesOf(shards)
    await this.#both.store(process).releaseLeases(leases)
    this.#both.twin.leases.releaseLeases(this.#both.processes[process], leases)
  }

  async leave(busy: readonly number[]): Promise<void> {
    const process = this.#process()
    await this.#both.store(process).leave(busy)
    this.#both.twin.leases.leave(this.#both.processes[process], busy)
  }

  /** As they are, or as they were before a renewal or a take-over. */
  #leasesOf(shards: readonly number[]): RenewedLease[] {
    return shards.map((shard) => {
      const { epoch = 0, beat = 0 } = this.#both.twin.tables.leases.get(shard) ?? {}
      const late = this.#dice.pick([0, 0, 0, 1])
      return { shard, epoch: this.#dice.chance(0.9) ? epoch : epoch - 1, beat: beat - late }
    })
  }

  #process(): 0 | 1 {
    return this.#dice.chance(0.5) ? 0 : 1
  }
}

function sameKeys<Key>(one: ReadonlyMap<Key, string>, other: ReadonlyMap<Key, string>): void {
  assert.deepEqual([...one.keys()].toSorted(), [...other.keys()].toSorted())
}

function sorted(signed: readonly SignedProcess[]): SignedProcess[] {
  return signed
    .map((one) => ({ ...one, shards: inOrder(one.shards), early: inOrder(one.early) }))
    .toSorted((one, other) => (one.id < other.id ? -1 : 1))
}

function inOrder(shards: readonly number[]): number[] {
  return shards.toSorted((one, other) => one - other)
}

export function byShard<T extends { shard: number }>(rows: readonly T[]): T[] {
  return rows.toSorted((one, other) => one.shard - other.shard)
}
