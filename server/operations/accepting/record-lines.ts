// A batch of payment changes, one JSON line each. Lines are read and recorded as they arrive; one bad
// line never fails its neighbours. The lines under way at once are bounded, so a long batch needs no
// more memory than a short one, except for its results. Other work goes on between them, however short they are.

import { setImmediate as pause } from 'node:timers/promises'
import { batchTooLarge, isBlank, LINE_TOO_LONG } from '../../core/payments/batch-line.ts'
import { PAYMENT_BODY_BYTES_MAX } from '../../core/payments/payment.ts'
import { parsePaymentLine, readPaymentId } from '../../core/payments/payment-fields.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import { type ParsedJson, parseJson } from '../../core/plain/exact-json.ts'
import type { GatheredAudit } from '../shared/audit-trail.ts'
import { toServiceError } from '../shared/service-errors.ts'
import type { PaymentGatherer, Submitter } from './payment-gatherer.ts'
import type { RecordedPayment } from './record-payments.ts'

export interface LineResult {
  /** Counted from 1. */
  line: number
  /** Null where it cannot be read. */
  paymentId: string | null
  result: RecordedPayment | ServiceError
}

export interface LineLimits {
  bytesMax: number
  linesMax: number
  underWayMax: number
  underWayBytesMax: number
}

export const LINE_LIMITS: LineLimits = {
  bytesMax: 64 * 1024 * 1024,
  linesMax: 50_000,
  underWayMax: 4_000,
  underWayBytesMax: 32 * 1024 * 1024,
}

/** Lines until other work has its turn: up to 100 µs each where they are refused, and 0.2 where they are blank. */
const LINES_IN_A_ROW_MAX = 100
const BLANK_IN_A_ROW_MAX = 100 * LINES_IN_A_ROW_MAX

/** Reads a line that is so long that it would hold the loop up. */
export interface LargeLines {
  bytesMin: number
  read(bytes: Uint8Array): Promise<ParsedJson>
}

const NEWLINE = 0x0a

export async function recordLines(
  gatherer: Pick<PaymentGatherer, 'enter'>,
  chunks: AsyncIterable<Uint8Array>,
  limits: LineLimits = LINE_LIMITS,
  audit?: GatheredAudit,
  large?: LargeLines,
): Promise<readonly LineResult[]> {
  const results: LineResult[] = []
  const underWay = new LinesUnderWay(limits)
  const splitter = new LineSplitter(limits.bytesMax)
  let line = 0
  let inARow = 0

  async function take(lines: Iterable<Uint8Array | null>): Promise<void> {
    for (const bytes of lines) {
      line++
      const isNothing = bytes !== null && isBlank(bytes)
      inARow += isNothing ? LINES_IN_A_ROW_MAX / BLANK_IN_A_ROW_MAX : 1
      if (inARow >= LINES_IN_A_ROW_MAX) {
        inARow = 0
        await pause()
      }
      if (isNothing) continue
      if (results.length >= limits.linesMax)
        throw batchTooLarge(`more than ${limits.linesMax} lines`)
      const entry: LineResult = { line, paymentId: null, result: LINE_TOO_LONG }
      results.push(entry)
      if (bytes === null) continue
      // Awaits only when there is no room: a promise for each line costs measurable time.
      if (!underWay.hasRoom(bytes.length)) await underWay.room(bytes.length)
      const one = new Line(entry, underWay, bytes.length)
      const parsed =
        large !== undefined && bytes.length >= large.bytesMin
          ? await large.read(bytes).catch((error: unknown) => one.refused(error))
          : parseLine(bytes, one)
      if (parsed) recordLine(gatherer, parsed, one, audit)
    }
  }

  for await (const chunk of chunks) await take(splitter.split(chunk))
  await take(splitter.rest())
  await underWay.empty()
  // If nothing could be written, the whole request fails, with a Retry-After.
  const [first] = results
  if (first && results.every(({ result }) => isNotNow(result))) throw first.result
  return results
}

function isNotNow(result: LineResult['result']): boolean {
  return (
    result instanceof ServiceError &&
    (result.code === 'database-away' || result.code === 'overloaded')
  )
}

function parseLine(bytes: Uint8Array, line: Line): ParsedJson | undefined {
  try {
    return parseJson(bytes)
  } catch (error) {
    line.refused(error)
    return undefined
  }
}

/** The entry has the payment's id also for a line that is wrong, where the id can be read. */
function recordLine(
  gatherer: Pick<PaymentGatherer, 'enter'>,
  { value, amountText }: ParsedJson,
  line: Line,
  audit: GatheredAudit | undefined,
): void {
  try {
    const { accountId, write } = parsePaymentLine(value, amountText)
    line.entry.paymentId = write.id
    gatherer.enter(audit ? { accountId, write, audit } : { accountId, write }, line)
  } catch (error) {
    line.entry.paymentId ??= readPaymentId(value)
    line.refused(error)
  }
}

/** One line under way: it counts against the limits until it has its result. */
class Line implements Submitter {
  readonly entry: LineResult
  readonly #underWay: LinesUnderWay
  readonly #bytes: number

  constructor(entry: LineResult, underWay: LinesUnderWay, bytes: number) {
    this.entry = entry
    this.#underWay = underWay
    this.#bytes = bytes
    underWay.enter(bytes)
  }

  recorded(recorded: RecordedPayment): void {
    this.entry.result = recorded
    this.#underWay.leave(this.#bytes)
  }

  refused(error: unknown): void {
    this.entry.result = toServiceError(error)
    this.#underWay.leave(this.#bytes)
  }
}

/** Gives the lines without their newline; null for one that is longer than any payment can be. */
class LineSplitter {
  readonly #bytesMax: number
  #parts: Uint8Array[] = []
  #length = 0
  #total = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  *split(chunk: Uint8Array): Generator<Uint8Array | null> {
    this.#total += chunk.length
    if (this.#total > this.#bytesMax) throw batchTooLarge(`more than ${this.#bytesMax} bytes`)
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const part = chunk.subarray(start, end)
      start = end + 1
      yield this.#length === 0 && part.length <= PAYMENT_BODY_BYTES_MAX ? part : this.#joined(part)
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start))
  }

  /** What came after the last newline. */
  *rest(): Generator<Uint8Array | null> {
    if (this.#length > 0) yield this.#joined(new Uint8Array())
  }

  #keep(part: Uint8Array): void {
    this.#length += part.length
    // A line that is too long is counted, not kept.
    if (this.#length <= PAYMENT_BODY_BYTES_MAX) this.#parts.push(part)
  }

  #joined(last: Uint8Array): Uint8Array | null {
    this.#keep(last)
    const [parts, length] = [this.#parts, this.#length]
    this.#parts = []
    this.#length = 0
    return length > PAYMENT_BODY_BYTES_MAX ? null : Buffer.concat(parts, length)
  }
}

/** Bounds the lines and bytes under way; a single line is let in whatever its size. */
class LinesUnderWay {
  readonly #limits: LineLimits
  #lines = 0
  #bytes = 0
  #wake: (() => void) | null = null

  constructor(limits: LineLimits) {
    this.#limits = limits
  }

  hasRoom(bytes: number): boolean {
    if (this.#lines >= this.#limits.underWayMax) return false
    return this.#lines === 0 || this.#bytes + bytes <= this.#limits.underWayBytesMax
  }

  async room(bytes: number): Promise<void> {
    while (!this.hasRoom(bytes)) await this.#change()
  }

  enter(bytes: number): void {
    this.#lines++
    this.#bytes += bytes
  }

  leave(bytes: number): void {
    this.#lines--
    this.#bytes -= bytes
    this.#wake?.()
  }

  async empty(): Promise<void> {
    while (this.#lines > 0) await this.#change()
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
}
