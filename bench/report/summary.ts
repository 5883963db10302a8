// From rounds to rows: medians with their spread, and the ratios that the benchmark is about.

import type { CellResult } from '../cells.ts'
import type { RawRound } from '../floors/floors.ts'
import type { Feed, Round } from '../harness/measure.ts'
import { type Spread, spread } from '../harness/statistics.ts'

export interface Row {
  name: string
  feed: Feed | null
  durability: string
  perSecond: Spread
  /** Payments answered 2xx, and CPU-seconds per 1,000 of them: other than `perSecond` only where a filter leaves
   *  events out. */
  accepted: { perSecond: number; cpu: number }
  /** CPU-seconds per 1,000: service and store together, then receiver and generator apart. */
  cpu: { system: number; service: number; store: number; receiver: number; generator: number }
  toFloor: number
  /** The share of the processors' time that the host took, in the rounds that count. */
  stolen: number
  discarded: CellResult['discarded']
  failure: string | null
  walBytesEach: number
  walFsyncsEach: number
  latencyP50: number
  latencyP99: number
}

export interface Ratios {
  /** Paybell's durable deliveries to the raw POST floor, and to the best durable peer. */
  toFloor: number
  toBestPeer: number
  bestPeer: string
  /** CPU of the best peer to Paybell's, per delivery. */
  cpuToBestPeer: number
}

const FLOOR = 'rawDispatch'

export function summarise(results: readonly CellResult[]): Row[] {
  const floor = results.find(({ cell }) => cell.kind === 'raw' && cell.through === FLOOR)
  const floorPerSecond = spread((floor?.rounds ?? []).map((round) => round.perSecond)).median
  return results.map((result) => toRow(result, floorPerSecond))
}

function toRow(result: CellResult, floorPerSecond: number): Row {
  const { cell, rounds } = result
  const perSecond = spread(rounds.map((round) => round.perSecond))
  const median = (pick: (round: Round) => number) => spread((rounds as Round[]).map(pick)).median
  const isRaw = cell.kind === 'raw'
  const service = median((round) => round.cpu.service)
  const store = isRaw ? 0 : median((round) => round.cpu.store)
  return {
    name: cell.name,
    feed: isRaw ? null : cell.feed,
    durability: isRaw ? 'none' : cell.system.durability,
    perSecond,
    accepted: {
      perSecond: isRaw ? Number.NaN : median((round) => round.accepted / round.seconds),
      cpu: isRaw ? Number.NaN : median(costAccepted),
    },
    cpu: {
      system: service + store,
      service,
      store,
      receiver: spread((rounds as RawRound[]).map((round) => round.cpu.receiver)).median,
      generator: isRaw ? 0 : median((round) => round.cpu.generator),
    },
    toFloor: perSecond.median / floorPerSecond,
    stolen: spread(rounds.map((round) => round.stealShare)).median,
    discarded: result.discarded,
    failure: result.failure,
    walBytesEach: isRaw ? Number.NaN : median((round) => round.walBytesEach),
    walFsyncsEach: isRaw ? Number.NaN : median((round) => round.walFsyncsEach),
    latencyP50: isRaw ? Number.NaN : median((round) => round.latency.p50),
    latencyP99: isRaw ? Number.NaN : median((round) => round.latency.p99),
  }
}

function costAccepted({ cpu, deliveries, accepted }: Round): number {
  return ((cpu.service + cpu.store) * deliveries) / accepted
}

/** Null while one of them has no valid round. Only durable peers fed in the same way are compared. */
export function ratiosOf(rows: readonly Row[], feed: Feed): Ratios | null {
  const paybell = rows.find((row) => row.name === 'Paybell' && row.feed === feed)
  const peers = rows.filter(
    (row) =>
      row.feed === feed &&
      !row.name.startsWith('Paybell') &&
      row.durability === 'fsync before 2xx' &&
      row.perSecond.rounds > 0,
  )
  peers.sort((a, b) => b.perSecond.median - a.perSecond.median)
  const [best] = peers
  if (paybell === undefined || paybell.perSecond.rounds === 0) return null
  return {
    toFloor: paybell.toFloor,
    toBestPeer: best ? paybell.perSecond.median / best.perSecond.median : Number.NaN,
    bestPeer: best?.name ?? 'none',
    cpuToBestPeer: best ? best.cpu.system / paybell.cpu.system : Number.NaN,
  }
}
