// Random operations for both stores: plausible ones, and those that come too late: an old epoch, an
// attempt that was recorded before, an endpoint that is gone.

import assert from 'node:assert/strict'
import type { ShardEpoch } from '../../server/core/delivery/lease.ts'
import type { PaymentWrite } from '../../server/core/payments/payment.ts'
import { NIL_UUID } from '../../server/core/plain/uuid.ts'
import type { HeldDelivery } from '../../server/store/owed/held-deliveries.ts'
import type { AttemptRecord, Recorded } from '../../server/store/owed/outcomes.ts'
import type { ParkedPage } from '../../server/store/owed/parked.ts'
import type { SendingEndpoint } from '../../server/store/owed/sending-endpoints.ts'
import { Dice } from '../simulator/dice.ts'
import type { PendingRow } from '../simulator/twin-tables.ts'
import { sampleWrite } from '../support/payment-sample.ts'
import { type BothStores, FILTERS } from './both-stores.ts'
import { beginRuns, bringForward } from './clock-operations.ts'
import { saveHealth } from './health-operations.ts'
import { byShard, LeaseOperations } from './lease-operations.ts'

const HOUR_MS = 3_600_000
export class Operations {
  readonly #both: BothStores
  readonly #dice: Dice
  readonly #leases: LeaseOperations
  #keys = 0
  #endpoints = 0

  constructor(both: BothStores, seed: number) {
    this.#both = both
    this.#dice = new Dice(seed)
    this.#leases = new LeaseOperations(both, this.#dice)
  }

  /** Does one of them, and returns its name. */
  async next(): Promise<string> {
    const { twin } = this.#both
    // Fractions of a millisecond: a Date drops them, and so must the twin.
    this.#both.nowMs += this.#dice.pick([0, 0.4, 7, 1_000.7, HOUR_MS])
    if (twin.tables.endpoints.size === 0) return this.#do('register')
    if (this.#dice.chance(0.1)) return this.#do('take')
    if (twin.tables.pending.size < 4 && this.#dice.chance(0.5)) return this.#do('accept')
    return this.#do(this.#dice.pick(Object.keys(this.#all)))
  }

  async #do(name: string): Promise<string> {
    await this.#all[name]?.()
    return name
  }

  readonly #all: Readonly<Record<string, () => Promise<void>>> = {
    register: () => {
      if (this.#endpoints >= 8) return Promise.resolve()
      return this.#both.register(this.#endpoints++, this.#dice.chance(0.5))
    },
    rotate: () => {
      const isSame = this.#dice.chance(0.3)
      return this.#both.rotate(this.#endpoint(), `k${isSame ? this.#keys : ++this.#keys}`)
    },
    pause: () => this.#both.change(this.#endpoint(), 'PAUSED'),
    resume: () => this.#both.change(this.#endpoint(), 'ACTIVE'),
    hear: () => this.#both.hear(this.#endpoint(), this.#dice.pick(FILTERS)),
    remove: () =>
      this.#dice.chance(0.2) ? this.#both.remove(this.#endpoint()) : Promise.resolve(),
    accept: () => this.#both.accept(this.#writes()),
    acceptMore: () => this.#both.accept(this.#writes()),
    renew: () => this.#leases.renew(),
    take: () => this.#leases.take(),
    takeMore: () => this.#leases.take(),
    release: () => this.#leases.release(this.#shards()),
    leave: () => this.#leases.leave(this.#shards()),
    renewAsBefore: () => this.#both.renewAsBefore(this.#shards()),
    pastTheirTime: () => this.#both.setPastTheirTime(),
    replay: () => this.#replay(),
    replayMore: () => this.#replay(),
    retry: () => this.#retry(),
    cancel: () => this.#cancel(),
    retryEndpoint: () => this.#both.retryEndpoint(this.#endpoint()),
    readDue: () => this.#readDue(),
    readStrands: () => this.#readStrands(),
    readEndpoints: () => this.#readEndpoints(),
    readChanged: async () => {
      const sinceMs = this.#both.nowMs - this.#dice.between(0, 2 * HOUR_MS)
      const afterId = this.#dice.chance(0.5) ? NIL_UUID : this.#endpoint()
      const limit = this.#dice.whole(1, 8)
      const found = await this.#both.store(0).readChangedEndpoints(sinceMs, afterId, limit)
      assert.deepEqual(this.#both.twin.reads.readChangedEndpoints(sinceMs, afterId, limit), found)
    },
    record: () => this.#record(),
    recordMore: () => this.#record(),
    recordAgain: () => this.#record(),
    postpone: async () => {
      const nextAttemptAtMs = this.#both.nowMs + this.#dice.between(0, HOUR_MS)
      const given = this.#held().map((held) => {
        // Now and then a retry has moved it in between.
        const known = this.#both.twin.tables.pending.get(held.id)?.nextAttemptAtMs ?? 0
        return { ...held, knownAtMs: known + this.#dice.pick([0, 0, 1]), nextAttemptAtMs }
      })
      await this.#both.store(0).postpone(given)
      this.#both.twin.outcomes.postpone(given)
    },
    beginRuns: () => beginRuns(this.#both, this.#held()),
    bringForward: () => bringForward(this.#both, this.#dice, this.#shardEpochs()),
    park: async () => {
      const given = this.#held()
      await this.#both.store(0).park(given)
      this.#both.twin.outcomes.park(given)
    },
    readParked: () => this.#readParked(),
    exhaust: async () => {
      const given = this.#held()
      const nowMs = this.#both.nowMs + this.#dice.pick([0, 8 * 24 * HOUR_MS])
      await this.#both.store(0).exhaust(given, nowMs)
      this.#both.twin.outcomes.exhaust(given, nowMs)
    },
    exhaustParked: () => this.#exhaustParked(),
    settleInactive: async () => {
      const given = this.#held()
      await this.#both.store(0).settleInactive(given, this.#both.nowMs)
      this.#both.twin.outcomes.settleInactive(given, this.#both.nowMs)
    },
    saveHealth: () => saveHealth(this.#both, this.#dice, this.#endpoint()),
    disableFailing: () => this.#disableFailing(),
  }

  #endpoint(): string {
    return this.#dice.pick(this.#both.endpointIds)
  }

  #shards(): number[] {
    const shards = [...this.#both.twin.tables.endpoints.values()].map(({ shard }) => shard)
    return [...new Set(shards.filter(() => this.#dice.chance(0.4)))]
  }

  #shardEpochs(): ShardEpoch[] {
    return this.#shards().map((shard) => ({ shard, epoch: this.#epoch(shard) }))
  }

  #rows(): PendingRow[] {
    return [...this.#both.twin.tables.pending.values()].toSorted((one, other) =>
      one.id < other.id ? -1 : 1,
    )
  }

  /** Some deliveries under the epoch of now, or under an old one. */
  #held(): HeldDelivery[] {
    return this.#rows()
      .filter(() => this.#dice.chance(0.3))
      .map(({ clientKey, id, shard }) => ({ clientKey, id, shard, epoch: this.#epoch(shard) }))
  }

  #epoch(shard: number): number {
    const epoch = this.#both.twin.tables.leases.get(shard)?.epoch ?? 0
    return this.#dice.chance(0.85) ? epoch : epoch - 1
  }

  #writes(): PaymentWrite[] {
    return Array.from({ length: this.#dice.whole(1, 3) }, () =>
      sampleWrite({
        id: `5d0c63c4-9a6e-4a0e-8f0c-0d7c4d6b1a0${this.#dice.whole(0, 3)}`,
        status: this.#dice.chance(0.9) ? { state: 'DUE' } : { state: 'DRAFT' },
        reference: `r${this.#dice.whole(0, 9)}`,
        version: this.#dice.chance(0.3) ? this.#dice.whole(1, 30) : undefined,
        document: undefined,
      }),
    )
  }

  async #readDue(): Promise<void> {
    const { twin, nowMs } = this.#both
    const cursors = this.#shards().map((shard) => {
      const [row] = this.#rows().filter(() => this.#dice.chance(0.5))
      return {
        shard,
        afterMs: row ? (row.nextAttemptAtMs ?? 0) : nowMs - this.#dice.between(0, HOUR_MS),
        afterId: row?.id ?? NIL_UUID,
      }
    })
    const untilMs = nowMs + this.#dice.between(-HOUR_MS, HOUR_MS)
    const limit = this.#dice.whole(1, 5)
    const found = await this.#both.store(0).readDue(cursors, untilMs, limit)
    const due = twin.reads.readDue(cursors, untilMs, limit)
    for (const shard of cursors.map((cursor) => cursor.shard)) {
      assert.deepEqual(
        due.filter((row) => row.shard === shard),
        found.filter((row) => row.shard === shard),
      )
    }
  }

  async #readStrands(): Promise<void> {
    const deliver = this.#dice.pick(['every', 'latest'] as const)
    const keys = new Map(
      this.#rows()
        .filter(() => this.#dice.chance(0.5))
        .map((row) => [`${row.endpointId}/${row.paymentId}`, { ...row, deliver }]),
    )
    const limit = this.#dice.whole(1, 4)
    const found = await this.#both.store(0).readStrands([...keys.values()], limit)
    const read = this.#both.twin.reads.readStrands([...keys.values()], limit)
    for (const { endpointId, paymentId } of keys.values()) {
      const ofStrand = (row: { endpointId: string; paymentId: string }) =>
        row.endpointId === endpointId && row.paymentId === paymentId
      assert.deepEqual(read.filter(ofStrand), found.filter(ofStrand))
    }
    const events = this.#rows().slice(0, 3)
    const payloads = await this.#both.store(0).readPayloads(events)
    assert.deepEqual(this.#both.twin.reads.readPayloads(events), payloads)
  }

  async #readEndpoints(): Promise<void> {
    const { clientKey, endpointIds, twin } = this.#both
    const keys = endpointIds.map((endpointId) => ({ clientKey, endpointId }))
    const found = await this.#both.store(0).readEndpoints(keys)
    const plain = ({ secrets, ...rest }: SendingEndpoint) => ({
      ...rest,
      endpointId: rest.id,
      current: secrets?.keys.current.export().toString(),
      previous: secrets?.keys.previous?.key.export().toString(),
      untilMs: secrets?.keys.previous?.untilMs,
    })
    assert.deepEqual(
      byEndpoint(twin.reads.readEndpoints(keys).map(plain)),
      byEndpoint(found.map(plain)),
    )
  }

  async #record(): Promise<void> {
    const strands = new Set<string>()
    const records = this.#rows().flatMap((row) => {
      const strand = `${row.endpointId}/${row.paymentId}`
      // One update of a payment is in flight at a time.
      if (!this.#dice.chance(0.4) || strands.has(strand)) return []
      strands.add(strand)
      return [this.#recordOf(row)]
    })
    const found = await this.#both.store(0).recordOutcomes(records, this.#both.nowMs)
    const recorded = this.#both.twin.outcomes.recordOutcomes(records, this.#both.nowMs)
    sameRecorded(recorded, found)
    if (this.#dice.chance(0.5)) return
    // The answer was lost, and the same is recorded again.
    const again = await this.#both.store(0).recordOutcomes(records, this.#both.nowMs)
    const repeated = this.#both.twin.outcomes.recordOutcomes(records, this.#both.nowMs)
    sameRecorded(repeated, again)
  }

  #recordOf(row: PendingRow): AttemptRecord {
    const { nowMs } = this.#both
    const state = this.#dice.pick(['PENDING', 'PENDING', 'DELIVERED', 'EXHAUSTED'] as const)
    const isLate = this.#dice.chance(0.15)
    const firstAttemptAtMs = row.firstAttemptAtMs ?? nowMs
    return {
      clientKey: row.clientKey,
      id: row.id,
      shard: row.shard,
      epoch: this.#epoch(row.shard),
      endpointId: row.endpointId,
      paymentId: row.paymentId,
      sequence: row.sequence,
      attempt: row.attempts + (isLate ? 2 : 1),
      runAttempt: row.runAttempts + 1,
      atMs: nowMs - this.#dice.between(0, 5_000),
      durationMs: this.#dice.between(0, 15_000),
      outcome: state === 'DELIVERED' ? 'answered' : this.#dice.pick(['answered', 'timeout']),
      status: state === 'DELIVERED' ? 200 : null,
      excerpt: null,
      state,
      nextAttemptAtMs: state === 'PENDING' ? nowMs + this.#dice.between(0, HOUR_MS) : null,
      firstAttemptAtMs,
      firstFailedAtMs: state === 'DELIVERED' ? row.firstFailedAtMs : nowMs,
      deadlineAtMs: row.deadlineAtMs ?? firstAttemptAtMs + 7 * 24 * HOUR_MS,
      supersedes: !row.isReplay && this.#dice.chance(state === 'DELIVERED' ? 0.7 : 0.2),
    }
  }

  /** Mostly of a delivery that has ended; of a pending one it is refused. */
  async #replay(): Promise<void> {
    const { pending, final } = this.#both.twin.tables
    const ids = [...(this.#dice.chance(0.8) ? final : pending).keys()].toSorted()
    if (ids.length > 0) await this.#both.replay(this.#dice.pick(ids))
  }

  /** Mostly of a pending delivery; of one that has ended it is refused. */
  async #retry(): Promise<void> {
    const { pending, final } = this.#both.twin.tables
    const ids = [...(this.#dice.chance(0.8) ? pending : final).keys()].toSorted()
    if (ids.length > 0) await this.#both.retry(this.#dice.pick(ids))
  }

  /** Mostly of a pending delivery; of one that has ended it is refused. */
  async #cancel(): Promise<void> {
    const { pending, final } = this.#both.twin.tables
    const ids = [...(this.#dice.chance(0.8) ? pending : final).keys()].toSorted()
    if (ids.length > 0) await this.#both.cancel(this.#dice.pick(ids))
  }

  async #readParked(): Promise<void> {
    const { twin } = this.#both
    const shards = this.#shards()
    const found = await this.#both.store(0).readParkedLanes(shards)
    assert.deepEqual(byEndpoint(twin.reads.readParkedLanes(shards)), byEndpoint(found))
    for (const lane of found) {
      const afterId = this.#dice.chance(0.5) ? NIL_UUID : this.#dice.pick(this.#rows()).id
      const limit = this.#dice.whole(1, 4)
      const rows = await this.#both.store(0).readParked(lane, afterId, limit)
      assert.deepEqual(twin.reads.readParked(lane, afterId, limit), rows)
    }
  }

  async #exhaustParked(): Promise<void> {
    const { twin, clientKey } = this.#both
    const endpointId = this.#endpoint()
    const shard = twin.tables.endpoints.get(endpointId)?.shard ?? 0
    const lane = { clientKey, endpointId, shard, epoch: this.#epoch(shard) }
    const nowMs = this.#both.nowMs + this.#dice.pick([0, 8 * 24 * HOUR_MS])
    const limit = this.#dice.pick([1, 2, 100])
    let afterId: string | null = NIL_UUID
    while (afterId !== null) {
      const page: ParkedPage = { afterId, limit }
      const found = await this.#both.store(0).exhaustParked(lane, page, nowMs)
      assert.deepEqual(twin.outcomes.exhaustParked(lane, page, nowMs), found)
      afterId = found.afterId
    }
  }

  async #disableFailing(): Promise<void> {
    if (!this.#dice.chance(0.4)) return
    const shards = this.#shardEpochs()
    const { nowMs } = this.#both
    const found = await this.#both.store(0).disableFailing(shards, nowMs, nowMs)
    assert.deepEqual(
      byEndpoint(this.#both.twin.outcomes.disableFailing(shards, nowMs, nowMs)),
      byEndpoint(found),
    )
  }
}

function sameRecorded(one: Recorded, other: Recorded): void {
  assert.deepEqual([...one.ids].toSorted(), [...other.ids].toSorted())
  assert.deepEqual(byShard(one.lost), byShard(other.lost))
}

function byEndpoint<T extends { endpointId: string }>(rows: readonly T[]): T[] {
  return rows.toSorted((one, other) => (one.endpointId < other.endpointId ? -1 : 1))
}
