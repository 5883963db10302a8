// From slices to rows: medians with their spread, and the ratios that the benchmark is about.

import type { CellResult } from '../cells.ts'
import type { RawSlice } from '../floors/floors.ts'
import type { Feed, Slice } from '../harness/measure.ts'
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
  /** Service and store together: of the slice that needed least, and of the quarter that did. */
  calm: { least: number; quarter: number }
  toFloor: number
  /** The share of the processors' time that the host took, the median of the slices. */
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
  /** The same of the best quarters, which a busy host disturbs least. */
  toBestPeerCalm: number
  bestPeer: string
  /** CPU of the best peer to Paybell's, per delivery. */
  cpuToBestPeer: number
}

const FLOOR = 'rawDispatch'

export function summarise(results: readonly CellResult[]): Row[] {
  const floor = results.find(({ cell }) => cell.kind === 'raw' && cell.through === FLOOR)
  const floorPerSecond = spread((floor?.slices ?? []).map((slice) => slice.perSecond)).median
  return results.map((result) => toRow(result, floorPerSecond))
}

function toRow(result: CellResult, floorPerSecond: number): Row {
  const { cell, slices } = result
  const perSecond = spread(slices.map((slice) => slice.perSecond))
  const spreadOf = (pick: (slice: Slice) => number) => spread((slices as Slice[]).map(pick))
  const median = (pick: (slice: Slice) => number) => spreadOf(pick).median
  const isRaw = cell.kind === 'raw'
  const service = median((slice) => slice.cpu.service)
  const store = isRaw ? 0 : median((slice) => slice.cpu.store)
  const system = spreadOf(({ cpu }) => cpu.service + (cpu.store ?? 0))
  return {
    name: cell.name,
    feed: isRaw ? null : cell.feed,
    durability: isRaw ? 'none' : cell.system.durability,
    perSecond,
    accepted: {
      perSecond: isRaw ? Number.NaN : median((slice) => slice.accepted / slice.seconds),
      cpu: isRaw ? Number.NaN : median(costAccepted),
    },
    cpu: {
      system: service + store,
      service,
      store,
      receiver: spread((slices as RawSlice[]).map((slice) => slice.cpu.receiver)).median,
      generator: isRaw ? 0 : median((slice) => slice.cpu.generator),
    },
    calm: { least: system.min, quarter: system.lowQuarter },
    toFloor: perSecond.median / floorPerSecond,
    stolen: spread(slices.map((slice) => slice.stealShare)).median,
    discarded: result.discarded,
    failure: result.failure,
    walBytesEach: isRaw ? Number.NaN : median((slice) => slice.walBytesEach),
    walFsyncsEach: isRaw ? Number.NaN : median((slice) => slice.walFsyncsEach),
    latencyP50: isRaw ? Number.NaN : median((slice) => slice.latency.p50),
    latencyP99: isRaw ? Number.NaN : median((slice) => slice.latency.p99),
  }
}

function costAccepted({ cpu, deliveries, accepted }: Slice): number {
  return ((cpu.service + cpu.store) * deliveries) / accepted
}

/** Null while one of them has no valid slice. Only durable peers fed in the same way are compared. */
export function ratiosOf(rows: readonly Row[], feed: Feed): Ratios | null {
  const paybell = rows.find((row) => row.name === 'Paybell' && row.feed === feed)
  const peers = rows.filter(
    (row) =>
      row.feed === feed &&
      !row.name.startsWith('Paybell') &&
      row.durability === 'fsync before 2xx' &&
      row.perSecond.slices > 0,
  )
  peers.sort((a, b) => b.perSecond.median - a.perSecond.median)
  const [best] = peers
  if (paybell === undefined || paybell.perSecond.slices === 0) return null
  return {
    toFloor: paybell.toFloor,
    toBestPeer: best ? paybell.perSecond.median / best.perSecond.median : Number.NaN,
    toBestPeerCalm: best ? paybell.perSecond.highQuarter / best.perSecond.highQuarter : Number.NaN,
    bestPeer: best?.name ?? 'none',
    cpuToBestPeer: best ? best.cpu.system / paybell.cpu.system : Number.NaN,
  }
}
