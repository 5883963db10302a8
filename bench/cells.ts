// The cells of the main table: which systems, fed how, and in which order. Rounds go forward and back
// (ABBA), so that a machine that warms up or slows down favours no system.

import { measureRawPost, type RawRound } from './floors/floors.ts'
import { type Feed, measureRound, type Round } from './harness/measure.ts'
import { Stage } from './harness/stage.ts'
import type { System } from './harness/system.ts'

export interface Timing {
  rounds: number
  seconds: number
  warmUpSeconds: number
  endpoints: number
  seed: string
  /** A round of which the hypervisor took more than this share counts for nothing. */
  stolenMax: number
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
  rounds: (Round | RawRound)[]
  /** Rounds that count for nothing: the hypervisor took too much of the time, or a payment was missing, or came
   *  twice. */
  discarded: { stolen: number; missing: number; duplicates: number }
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
      rounds: [],
      discarded: { stolen: 0, missing: 0, duplicates: 0 },
      failure: null,
    }),
  )
  for (let round = 0; round < timing.rounds; round++) {
    const order = round % 2 === 0 ? results : results.toReversed()
    for (const result of order) {
      const before = result.rounds.length
      await runOnce(result, round, timing)
      // A round that was stolen is tried once more; one that went wrong is not hidden by another.
      const { missing, duplicates } = result.discarded
      const isStolen = result.rounds.length === before && result.failure === null
      if (isStolen && missing + duplicates === 0) await runOnce(result, round, timing)
    }
  }
  return results
}

/** Why a round counts for nothing; null when it counts. */
export function faultOf(
  round: Pick<Round, 'missing' | 'stealShare'> & { duplicates?: number },
  stolenMax: number,
): keyof CellResult['discarded'] | null {
  if (round.missing > 0) return 'missing'
  if ((round.duplicates ?? 0) > 0) return 'duplicates'
  return round.stealShare > stolenMax ? 'stolen' : null
}

async function runOnce(result: CellResult, round: number, timing: Timing): Promise<void> {
  const stage = await Stage.open(timing.core)
  try {
    const measured = await measureCell(stage, result.cell, round, timing)
    const label = `${result.cell.name}${result.cell.kind === 'delivery' ? `, ${result.cell.feed}` : ''}`
    const fault = faultOf(measured, timing.stolenMax)
    console.log(
      `  round ${round + 1}  ${label.padEnd(42)} ${measured.perSecond.toFixed(0).padStart(7)}/s` +
        (fault === null ? '' : `  REFUSED: ${fault}`),
    )
    if (fault === null) result.rounds.push(measured)
    else result.discarded[fault]++
  } catch (error) {
    result.failure = String(error).split('\n')[0] as string
    console.log(`  round ${round + 1}  ${result.cell.name}: ${result.failure}`)
  } finally {
    await stage.close()
  }
}

async function measureCell(
  stage: Stage,
  cell: Cell,
  round: number,
  timing: Timing,
): Promise<Round | RawRound> {
  if (cell.kind === 'raw') return measureRawPost(stage, cell.through, timing.seconds)
  const running = await cell.system.start({
    receiverUrl: cell.system.isOverTls ? await stage.openTlsOrigin() : stage.receiverUrl,
    endpoints: cell.endpoints,
  })
  try {
    const measured = await measureRound(stage, running, {
      feed: cell.feed,
      seconds: timing.seconds,
      warmUpSeconds: timing.warmUpSeconds,
      seed: `${timing.seed}-${round}`,
      ...(cell.system.underWayMax === undefined ? {} : { underWayMax: cell.system.underWayMax }),
    })
    if (measured.refused > 0) {
      throw new Error(`${measured.refused} payments were refused: ${measured.firstRefusal}`)
    }
    return measured
  } finally {
    await running.stop()
  }
}
