// A stream of payments, sent in batches: one request at a time, and none while the caller handles results. So
// at most the results of one batch are unknown when a process ends, and sending them again makes no event:
// a request names each payment once, and a batch twice only with rising versions.

import type { Caller } from '../calling/caller.ts'
import { type Line, LineReader } from '../plain/line-reader.ts'
import { toPaymentJson } from '../plain/payment-json.ts'
import type { PaymentLine } from '../wire/operator-types.ts'
import { isElsewhere } from './cells.ts'
import { type PutResult, type SendPolicy, sendLines } from './send-lines.ts'

/** A payment as it is now, whole. Without `accountId` it belongs to the producer's. */
export type PaymentInput = Omit<PaymentLine, 'accountId'> & { accountId?: string | undefined }

export interface PutAllOptions extends Partial<Omit<SendPolicy, 'random'>> {
  /** Passes over so many of the source: those that have a result from an earlier run. */
  from?: number | undefined
  /** In one request: 1,000 by default, at most 10,000. */
  linesMax?: number | undefined
}

/** Where the lines of an account go. */
export interface Destinations {
  /** The producer's own address, which knows every account. */
  own: Caller
  of(accountId: string): Promise<Caller>
  /** An account was not where it was looked for. */
  refresh(): Promise<void>
}

const LINES_MAX = 10_000
/** Large enough for one sync to disk, small enough to keep two of them in memory. */
const BATCH_BYTES_MAX = 4 * 1024 * 1024

const utf8 = new TextEncoder()

export async function* putAll(
  destinations: Destinations,
  source: Iterable<PaymentInput> | AsyncIterable<PaymentInput>,
  withAccount: (payment: PaymentInput) => PaymentLine,
  options: PutAllOptions & Pick<SendPolicy, 'random'>,
): AsyncGenerator<PutResult, void, void> {
  const { signal, from = 0, linesMax = 1_000, patienceMs = 300_000, timeoutMs = 120_000 } = options
  if (!(linesMax >= 1 && linesMax <= LINES_MAX)) {
    throw new RangeError(`linesMax must be between 1 and ${LINES_MAX}.`)
  }
  signal?.throwIfAborted()
  const limits = { linesMax, bytesMax: BATCH_BYTES_MAX }
  const reader = new LineReader(
    source,
    (payment, index) => toLine(withAccount(payment), index),
    from,
    limits,
  )
  const stop = () => reader.fail(signal?.reason)
  signal?.addEventListener('abort', stop)
  const policy = { signal, patienceMs, timeoutMs, random: options.random, onWait: options.onWait }
  try {
    for (;;) {
      const batch = await reader.take()
      if (batch.length === 0) return
      const results = new Map<number, PutResult>()
      let failure: { error: unknown } | undefined
      try {
        for (const layer of toLayers(batch)) {
          await sendEach(destinations, layer, results, policy)
        }
      } catch (error) {
        failure = { error }
      }
      for (const { index } of batch) {
        const result = results.get(index)
        // After a gap nothing more is reported: `from` is where the gap begins.
        if (!result) break
        yield result
      }
      if (failure) throw failure.error
    }
  } finally {
    signal?.removeEventListener('abort', stop)
    reader.close()
  }
}

function toLine(payment: PaymentLine, index: number): Line {
  const { id, accountId, version } = payment
  return {
    index,
    paymentId: id,
    accountId,
    version,
    bytes: utf8.encode(`${toPaymentJson(payment)}\n`),
  }
}

/** The first line of each payment, then the second of those that have one, and so on. */
function toLayers(lines: readonly Line[]): Line[][] {
  const layers: Line[][] = []
  const counts = new Map<string, number>()
  for (const line of lines) {
    const layer = counts.get(line.paymentId) ?? 0
    counts.set(line.paymentId, layer + 1)
    layers[layer] ??= []
    layers[layer].push(line)
  }
  return layers
}

/** Each line to its cell, all cells at once; what is elsewhere by now goes to the producer's own address. */
async function sendEach(
  destinations: Destinations,
  layer: readonly Line[],
  results: Map<number, PutResult>,
  policy: SendPolicy,
): Promise<void> {
  const groups = new Map<Caller, Line[]>()
  for (const line of layer) {
    const caller = await destinations.of(line.accountId)
    const group = groups.get(caller) ?? []
    groups.set(caller, group)
    group.push(line)
  }
  const sent = [...groups].map(([caller, lines]) => sendLines(caller, lines, results, policy))
  for (const one of await Promise.allSettled(sent)) {
    if (one.status === 'rejected') throw one.reason
  }
  const moved = [...groups].flatMap(([caller, lines]) =>
    caller === destinations.own
      ? []
      : lines.filter(({ index }) => isElsewhere(results.get(index)?.problem?.code)),
  )
  if (moved.length === 0) return
  await destinations.refresh()
  for (const { index } of moved) results.delete(index)
  await sendLines(destinations.own, moved, results, policy)
}
