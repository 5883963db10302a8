// POST /operator/v1/payments/batch over several cells: each line goes to the cell of its account as it comes, and the
// answers are joined in the order of the lines. An account has one cell for the whole batch, so that the lines of a
// payment never part. In memory are the lines under way, and of each line its number, its cell and the id of its payment.

import type { ServerResponse } from 'node:http'
import type { CellDirectory } from '../core/network/cell-directory.ts'
import { batchTooLarge, isBlank, LINE_TOO_LONG } from '../core/payments/batch-line.ts'
import { PAYMENT_BODY_BYTES_MAX } from '../core/payments/payment.ts'
import { ServiceError } from '../core/plain/errors.ts'
import { parseJson } from '../core/plain/exact-json.ts'
import { isUuid } from '../core/plain/uuid.ts'
import { SECURITY_HEADERS } from '../http/answers/security-headers.ts'
import type { Problem } from '../http/basics/problems.ts'
import { type BatchPart, toLineProblem } from './batch-part.ts'
import { readLines, untilDrained } from './lines.ts'
import { type CellAnswer, CellFailure } from './routed-cell.ts'

/** As a single cell takes them. */
const LINES_MAX = 50_000
const BYTES_MAX = 64 * 1_024 * 1_024

interface SentLine {
  number: number
  paymentId: string | null
  /** Null for a line that no cell gets. */
  part: BatchPart | null
}

export interface BatchQuestion {
  chunks: AsyncIterable<Uint8Array>
  directory: CellDirectory
  openPart(cell: number): BatchPart
  toProblem(error: ServiceError): Problem
}

export interface JoinedBatch {
  /** Each with its newline, in the order of the request. */
  lines: AsyncGenerator<string, void>
}

/** The joined answer, or what all cells have refused the batch with; null for a batch without a line. */
export async function sendBatch(
  question: BatchQuestion,
): Promise<JoinedBatch | CellAnswer | CellFailure | null> {
  const parts = new Map<number, BatchPart>()
  const sent: SentLine[] = []
  try {
    await sendLines(question, parts, sent)
  } catch (error) {
    for (const part of parts.values()) part.drop()
    throw error
  }
  for (const part of parts.values()) part.end()
  if (sent.length === 0) return null
  const refusals = new Map<BatchPart, CellAnswer | CellFailure>()
  for (const part of parts.values()) {
    const refusal = await part.refusal()
    if (refusal !== null) refusals.set(part, refusal)
  }
  const [first, ...others] = parts.values()
  const refusal = first && refusals.get(first)
  if (refusal !== undefined && refusals.size === parts.size) {
    for (const other of others) other.drop()
    return refusal
  }
  return { lines: joinLines(question, sent, refusals) }
}

async function sendLines(
  { chunks, directory, openPart }: BatchQuestion,
  parts: Map<number, BatchPart>,
  sent: SentLine[],
): Promise<void> {
  const cellOf = new Map<string, number>()
  let number = 0
  for await (const line of readLines(bounded(chunks), PAYMENT_BODY_BYTES_MAX)) {
    number++
    if (line !== null && isBlank(line)) continue
    if (sent.length >= LINES_MAX) throw batchTooLarge(`more than ${LINES_MAX} lines`)
    const { accountId, paymentId } = line === null ? UNREAD : readIds(line)
    const account = accountId?.toLowerCase() ?? ''
    const cell = cellOf.get(account) ?? directory.cellOfAccount(account)
    cellOf.set(account, cell)
    // A cell is asked in any case: it says whether the caller may.
    const part = parts.get(cell) ?? openPart(cell)
    parts.set(cell, part)
    sent.push({ number, paymentId, part: line === null ? null : part })
    if (line !== null) await part.write(line)
  }
}

async function* joinLines(
  { toProblem }: BatchQuestion,
  sent: readonly SentLine[],
  refusals: ReadonlyMap<BatchPart, CellAnswer | CellFailure>,
): AsyncGenerator<string, void> {
  const problems = new Map<BatchPart, Problem>()
  for (const [part, refusal] of refusals) {
    problems.set(part, await toLineProblem(refusal, toProblem))
  }
  for (const line of sent) {
    if (line.part === null) {
      yield toProblemLine(line, toProblem(LINE_TOO_LONG))
      continue
    }
    const problem = problems.get(line.part)
    const answer = problem === undefined ? await line.part.nextLine() : null
    if (answer !== null) {
      yield toNumbered(answer, line, toProblem)
      continue
    }
    const lost = new CellFailure(line.part.cell, 'away').toServiceError(true)
    yield toProblemLine(line, problem ?? toProblem(lost))
  }
}

/** The cell has numbered the lines that it got. A client that has just moved is where the next try finds it. */
function toNumbered(
  answer: string,
  line: SentLine,
  toProblem: (error: ServiceError) => Problem,
): string {
  if (answer.includes('"client-moved"')) {
    const { problem } = JSON.parse(answer) as { problem?: Problem }
    if (problem?.code === 'client-moved') return toProblemLine(line, toProblem(JUST_MOVED))
  }
  return `${answer.replace(/^\{"line":\d+/, `{"line":${line.number}`)}\n`
}

function toProblemLine({ number, paymentId }: SentLine, problem: Problem): string {
  return `${JSON.stringify({ line: number, id: paymentId, problem })}\n`
}

const JUST_MOVED = new ServiceError(
  'overloaded',
  'This client has just moved to another cell. Send the line again.',
)

const UNREAD = { accountId: null, paymentId: null }

/** What cannot be read goes to the first cell, which says what is wrong with it. */
function readIds(line: Buffer): { accountId: string | null; paymentId: string | null } {
  try {
    const { accountId, id } = parseJson(line).value as Record<string, unknown>
    const uuidOf = (value: unknown) => (typeof value === 'string' && isUuid(value) ? value : null)
    return { accountId: uuidOf(accountId), paymentId: uuidOf(id)?.toLowerCase() ?? null }
  } catch {
    return UNREAD
  }
}

async function* bounded(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let total = 0
  for await (const chunk of chunks) {
    total += chunk.length
    if (total > BYTES_MAX) throw batchTooLarge(`more than ${BYTES_MAX} bytes`)
    yield chunk
  }
}

export async function sendJoined(
  response: ServerResponse,
  { lines }: JoinedBatch,
  requestId: string,
): Promise<void> {
  response.writeHead(200, {
    ...SECURITY_HEADERS,
    'x-request-id': requestId,
    'content-type': 'application/x-ndjson',
  })
  for await (const line of lines) {
    if (response.write(line) || response.destroyed) continue
    await untilDrained(response)
  }
  response.end()
}
