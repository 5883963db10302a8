// The cells of the main table: which systems, fed how, and in which order. Rounds go forward and back
// (ABBA), so that a machine that warms up or slows down favours no system; each is a few short slices, so that
// what the host takes away spoils some of them and not the figure.

import { measureRawPost, type RawSlice } from './floors/floors.ts'
import { type Feed, measureSlice, type Slice, warmUp } from './harness/measure.ts'
import { Stage } from './harness/stage.ts'
import type { System } from './harness/system.ts'

export interface Timing {
  rounds: number
  /** Of a round. */
  slices: number
  /** Of a slice. */
  seconds: number
  warmUpSeconds: number
  endpoints: number
  seed: string
  /** Receiver and generator share this core. */
  core?: number | undefined
}

export interface DeliveryCell {
  kind: 'delivery'
  name: string
  feed: Feed
  system: System
  endpoints: number
}

export interface RawCell {
  kind: 'raw'
  name: string
  through: 'rawDispatch' | 'rawClient'
}

export type Cell = DeliveryCell | RawCell

export interface CellResult {
  cell: Cell
  slices: (Slice | RawSlice)[]
  /** Slices that count for nothing: a payment was missing, or came twice. */
  discarded: { missing: number; duplicates: number }
  failure: string | null
}

export const RAW_CELLS: readonly RawCell[] = [
  { kind: 'raw', name: 'raw POST, undici dispatch', through: 'rawDispatch' },
  { kind: 'raw', name: 'raw POST, Paybell’s client', through: 'rawClient' },
]

export function deliveryCell(system: System, feed: Feed, endpoints: number): DeliveryCell {
  return { kind: 'delivery', name: system.name, feed, system, endpoints }
}

export async function runCells(cells: readonly Cell[], timing: Timing): Promise<CellResult[]> {
  const results = cells.map(
    (cell): CellResult => ({
      cell,
      slices: [],
      discarded: { missing: 0, duplicates: 0 },
      failure: null,
    }),
  )
  for (let round = 0; round < timing.rounds; round++) {
    const order = round % 2 === 0 ? results : results.toReversed()
    for (const result of order) await runRound(result, round, timing)
  }
  return results
}

/** Why a slice counts for nothing; null when it counts. */
export function faultOf(slice: {
  missing: number
  duplicates?: number
}): keyof CellResult['discarded'] | null {
  if (slice.missing > 0) return 'missing'
  return (slice.duplicates ?? 0) > 0 ? 'duplicates' : null
}

async function runRound(result: CellResult, round: number, timing: Timing): Promise<void> {
  const stage = await Stage.open(timing.core)
  const label = `${result.cell.name}${result.cell.kind === 'delivery' ? `, ${result.cell.feed}` : ''}`
  const rates: string[] = []
  try {
    for await (const measured of measureCell(stage, result.cell, round, timing)) {
      const fault = faultOf(measured)
      rates.push(fault === null ? measured.perSecond.toFixed(0).padStart(6) : `REFUSED: ${fault}`)
      if (fault === null) result.slices.push(measured)
      else result.discarded[fault]++
    }
    console.log(`  round ${round + 1}  ${label.padEnd(42)} ${rates.join(' ')} /s`)
  } catch (error) {
    result.failure = String(error).split('\n')[0] as string
    console.log(`  round ${round + 1}  ${result.cell.name}: ${result.failure}`)
  } finally {
    await stage.close()
  }
}

async function* measureCell(
  stage: Stage,
  cell: Cell,
  round: number,
  timing: Timing,
): AsyncGenerator<Slice | RawSlice> {
  if (cell.kind === 'raw') {
    for (let slice = 0; slice < timing.slices; slice++) {
      yield await measureRawPost(stage, cell.through, timing.seconds)
    }
    return
  }
  const running = await cell.system.start({
    receiverUrl: cell.system.isOverTls ? await stage.openTlsOrigin() : stage.receiverUrl,
    endpoints: cell.endpoints,
  })
  try {
    const options = {
      feed: cell.feed,
      seconds: timing.seconds,
      warmUpSeconds: timing.warmUpSeconds,
      seed: `${timing.seed}-${round}`,
      underWayMax: cell.system.underWayMax,
    }
    await warmUp(stage, running, options)
    for (let slice = 0; slice < timing.slices; slice++) {
      const measured = await measureSlice(stage, running, options)
      if (measured.refused > 0) {
        throw new Error(`${measured.refused} payments were refused: ${measured.firstRefusal}`)
      }
      yield measured
    }
  } finally {
    await running.stop()
  }
}
