// How lines are sent so that an interrupted import can go on without a duplicate event. A batch is a
// range of the file; its first layer holds the first line of every payment in it, the second layer
// the second lines, and so on. One layer is under way at a time, and a layer names each payment at
// most once: repeating one whose answer was lost finds every payment as that line left it, or as it
// was before, so what was recorded changes nothing and makes no event. Were two lines of a payment
// repeated together, A then B, the payment would go back to A and forward again: two events too many.

import { isBlank } from '../../server/core/payments/batch-line.ts'
import { readPaymentId } from '../../server/core/payments/payment-fields.ts'
import { parseJson } from '../../server/core/plain/exact-json.ts'
import type { InputLine } from './lines.ts'

export interface Position {
  /** Lines and bytes before it. */
  line: number
  offset: number
}

export interface Batch {
  start: Position
  end: Position
  layers: readonly (readonly InputLine[])[]
  lines: number
}

export interface BatchLimits {
  linesMax: number
  bytesMax: number
}

/** Small enough to be answered in a moment and to hold two in memory, large enough for one fsync. */
const BATCH_LIMITS: BatchLimits = { linesMax: 2_000, bytesMax: 4 * 1024 * 1024 }

/**
 * `firstEnd` is where the first batch must end: the one that was under way when an earlier import
 * ended, whose layers have to be the same again.
 */
export async function* toBatches(
  lines: AsyncIterable<InputLine>,
  start: Position,
  firstEnd: number | null = null,
  limits: BatchLimits = BATCH_LIMITS,
): AsyncGenerator<Batch> {
  let batchStart = start
  let gathered: InputLine[] = []
  let bytes = 0
  let at = start
  let endsAt = firstEnd
  for await (const line of lines) {
    const size = line.bytes?.length ?? 0
    const isFull = gathered.length >= limits.linesMax || bytes + size > limits.bytesMax
    if (endsAt === null ? isFull && gathered.length > 0 : at.offset >= endsAt) {
      yield toBatch(batchStart, at, gathered)
      batchStart = at
      gathered = []
      bytes = 0
      endsAt = null
    }
    at = { line: line.number, offset: line.end }
    if (line.bytes !== null && isBlank(line.bytes)) continue
    gathered.push(line)
    bytes += size
  }
  if (at.offset > batchStart.offset) yield toBatch(batchStart, at, gathered)
}

function toBatch(start: Position, end: Position, lines: readonly InputLine[]): Batch {
  return { start, end, layers: toLayers(lines), lines: lines.length }
}

export function toLayers(lines: readonly InputLine[]): InputLine[][] {
  const layers: InputLine[][] = []
  const seen = new Map<string, number>()
  for (const line of lines) {
    const id = paymentIdOf(line)
    const layer = id === null ? 0 : (seen.get(id) ?? 0)
    if (id !== null) seen.set(id, layer + 1)
    const list = layers[layer] ?? []
    layers[layer] = list
    list.push(line)
  }
  return layers
}

/** As the service reads it. A line without one can change no payment, and may go at any time. */
function paymentIdOf(line: InputLine): string | null {
  if (line.bytes === null) return null
  try {
    return readPaymentId(parseJson(line.bytes).value)
  } catch {
    return null
  }
}
