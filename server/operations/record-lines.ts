// A batch of payment changes, one JSON line each. Lines are read as they arrive and written as they
// can be; one bad line never fails its neighbours. What is under way at once is bounded, so a long
// batch needs no more memory than a short one, its results excepted.

import { ServiceError } from '../core/errors.ts'
import { parseJson } from '../core/exact-json.ts'
import { PAYMENT_BODY_BYTES_MAX } from '../core/payment.ts'
import { parsePaymentLine, readPaymentId } from '../core/payment-fields.ts'
import type { GatheredAudit } from './audit.ts'
import { toServiceError } from './failures.ts'
import type { PaymentGatherer } from './payment-gatherer.ts'
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

const NEWLINE = 0x0a
/** Made once: an error of its own for each line, with its stack, was 4 % of a batch. */
const LINE_TOO_LONG = new ServiceError(
  'body-too-large',
  'The line is longer than any payment can be.',
)

export async function recordLines(
  gatherer: PaymentGatherer,
  chunks: AsyncIterable<Uint8Array>,
  limits: LineLimits = LINE_LIMITS,
  audit?: GatheredAudit,
): Promise<readonly LineResult[]> {
  const results: LineResult[] = []
  const window = new Window(limits)
  let line = 0
  for await (const bytes of splitLines(chunks, limits)) {
    line++
    if (bytes !== null && isBlank(bytes)) continue
    if (results.length >= limits.linesMax) throw tooLarge(`more than ${limits.linesMax} lines`)
    const entry: LineResult = { line, paymentId: null, result: LINE_TOO_LONG }
    results.push(entry)
    if (bytes === null) continue
    const size = bytes.length
    await window.enter(size)
    void recordLine(gatherer, bytes, entry, audit).finally(() => window.leave(size))
  }
  await window.empty()
  // Nothing at all could be written: that is an answer to the whole request, with its Retry-After.
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

async function recordLine(
  gatherer: PaymentGatherer,
  bytes: Uint8Array,
  entry: LineResult,
  audit: GatheredAudit | undefined,
): Promise<void> {
  try {
    const { value, amountText } = parseJson(bytes)
    entry.paymentId = readPaymentId(value)
    const change = parsePaymentLine(value, amountText)
    entry.result = await gatherer.submit(audit ? { ...change, audit } : change)
  } catch (error) {
    entry.result = toServiceError(error)
  }
}

/** The lines without their newline; null for one that is longer than any payment can be. */
async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
  limits: LineLimits,
): AsyncGenerator<Uint8Array | null> {
  let parts: Uint8Array[] = []
  let length = 0
  let total = 0
  for await (const chunk of chunks) {
    total += chunk.length
    if (total > limits.bytesMax) throw tooLarge(`more than ${limits.bytesMax} bytes`)
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      parts.push(chunk.subarray(start, end))
      yield join(parts, length + end - start)
      parts = []
      length = 0
      start = end + 1
    }
    length += chunk.length - start
    // A line that is too long anyway is counted, not kept.
    if (length <= PAYMENT_BODY_BYTES_MAX) parts.push(chunk.subarray(start))
  }
  if (length > 0) yield join(parts, length)
}

function join(parts: readonly Uint8Array[], length: number): Uint8Array | null {
  if (length > PAYMENT_BODY_BYTES_MAX) return null
  return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts, length)
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)
}

/** Lets in so many lines and bytes at once; whoever is alone is let in whatever its size. */
class Window {
  readonly #limits: LineLimits
  #lines = 0
  #bytes = 0
  #wake: (() => void) | null = null

  constructor(limits: LineLimits) {
    this.#limits = limits
  }

  async enter(bytes: number): Promise<void> {
    while (
      this.#lines >= this.#limits.underWayMax ||
      (this.#lines > 0 && this.#bytes + bytes > this.#limits.underWayBytesMax)
    ) {
      await this.#change()
    }
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

function tooLarge(what: string): ServiceError {
  return new ServiceError(
    'body-too-large',
    `The batch has ${what}: send it in parts. Lines sent so far may have been recorded; sending them again is harmless.`,
  )
}
