// Leases in the twin, as store/owed/leases keeps them. The database's time is handed in, and nothing compares it
// with any clock.

import type { RenewedLease, ShardEpoch } from '../../server/core/delivery/lease.ts'
import type { EndedSign, Sign } from '../../server/core/delivery/session-signs.ts'
import type { Renewal } from '../../server/store/owed/leases.ts'
import type { LeaseRow, ProcessRow, Stored } from './twin-tables.ts'

/** There is one, which never falls over to another. */
export const SERVER = 'server'

export class TwinLeases {
  readonly #stored: Stored

  constructor(stored: Stored) {
    this.#stored = stored
  }

  renewLeases(
    processId: string,
    leaseMs: number,
    gone: ReadonlyMap<string, string>,
    sign: Sign,
    settled: readonly ShardEpoch[],
    ended: readonly EndedSign[],
    databaseMs: number,
  ): Renewal {
    const { leases, processes } = this.#stored.tables
    const own = processes.get(processId)
    processes.set(processId, {
      beat: (own?.beat ?? -1) + 1,
      seenAtMs: databaseMs,
      sign: own !== undefined && own.sign.turn > sign.turn ? own.sign : sign,
      ended: own?.ended ?? null,
    })
    const held: RenewedLease[] = []
    const others = new Map<number, string>()
    const marks = new Map<string, string>()
    let free = 0
    for (const lease of leases.values()) {
      if (lease.owner === processId) {
        lease.beat++
        lease.expiresAtMs = databaseMs + leaseMs
        const isSettled = ({ shard, epoch }: ShardEpoch) =>
          shard === lease.shard && epoch === lease.epoch
        lease.isEarly &&= !settled.some(isSettled)
        held.push(toRenewed(lease))
      } else if (lease.owner === null) free++
      else others.set(lease.shard, leaseMark(lease))
    }
    for (const { id, name, forMs } of gone.size > 0 ? [] : ended) {
      const row = processes.get(id)
      if (row?.sign.name !== name) continue
      const isLess = row.ended?.name === name && row.ended.forMs >= forMs
      if (!isLess) row.ended = { name, forMs }
    }
    // A statement sees the rows as they were before it: what it forgets is still among them.
    for (const [id, row] of processes) if (id !== processId) marks.set(id, processMark(row))
    const signed = [...processes].flatMap(([id, row]) => {
      const { name } = row.sign
      if (id === processId || name === null) return []
      const ofIt = [...leases.values()].filter(({ owner }) => owner === id)
      const [early, others] = [true, false].map((wanted) =>
        ofIt.filter(({ isEarly }) => isEarly === wanted).map(({ shard }) => shard),
      )
      const endedForMs = row.ended?.name === name ? row.ended.forMs : null
      return [{ id, name, endedForMs, shards: others ?? [], early: early ?? [] }]
    })
    for (const [id, mark] of gone) if (marks.get(id) === mark) processes.delete(id)
    return { nowMs: databaseMs, held, others, processes: marks, free, signed, server: SERVER }
  }

  takeLeases(
    processId: string,
    wanted: number,
    leaseMs: number,
    marks: ReadonlyMap<number, string>,
    early: readonly number[],
    databaseMs: number,
  ): RenewedLease[] {
    const taken: RenewedLease[] = []
    const free = [...this.#stored.tables.leases.values()]
      .filter((lease) => lease.owner === null || marks.get(lease.shard) === leaseMark(lease))
      .sort((one, other) => one.shard - other.shard)
    for (const lease of free.slice(0, wanted)) {
      const before = { ...lease }
      lease.owner = processId
      lease.epoch++
      lease.beat++
      lease.expiresAtMs = databaseMs + leaseMs
      lease.isEarly = early.includes(lease.shard)
      taken.push(toRenewed(lease))
      this.#stored.events.onLeaseTaken(lease, before)
    }
    return taken
  }

  releaseLeases(processId: string, given: readonly RenewedLease[]): void {
    for (const { shard, epoch, beat } of given) {
      const lease = this.#stored.tables.leases.get(shard)
      if (lease?.owner !== processId || lease.epoch !== epoch || lease.beat !== beat) continue
      release(lease)
    }
  }

  leave(processId: string, busy: readonly number[]): void {
    this.#stored.tables.processes.delete(processId)
    for (const lease of this.#stored.tables.leases.values()) {
      if (lease.owner === processId && !busy.includes(lease.shard)) release(lease)
    }
  }
}

/** Any change of these is a sign of life. */
function leaseMark({ epoch, beat, expiresAtMs }: LeaseRow): string {
  return `${epoch}/${beat}/${expiresAtMs}`
}

function processMark({ beat, seenAtMs }: ProcessRow): string {
  return `${beat}/${seenAtMs}`
}

function toRenewed({ shard, epoch, beat }: LeaseRow): RenewedLease {
  return { shard, epoch, beat }
}

function release(lease: LeaseRow): void {
  lease.owner = null
  lease.beat++
  lease.expiresAtMs = Number.NEGATIVE_INFINITY
}
