import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { CellDirectory } from '../core/network/cell-directory.ts'
import type { ServiceError } from '../core/plain/errors.ts'
import { uuidAt } from '../core/plain/uuid.ts'
import { PROBLEMS, type Problem } from '../http/basics/problems.ts'
import { sendBatch } from './batch.ts'
import { BatchPart } from './batch-part.ts'
import { readLines } from './lines.ts'
import { type CellAnswer, CellFailure } from './routed-cell.ts'

const directory = new CellDirectory([0, 7], [])
const accountIn = (cell: number) => uuidAt(1_800_000_000_000, 0, Buffer.alloc(8), cell)
const lineOf = (cell: number, id: string) => JSON.stringify({ accountId: accountIn(cell), id })
const toProblem = ({ code, message }: ServiceError) =>
  ({ code, detail: message, status: PROBLEMS[code].status }) as Problem

/** A cell that numbers what it gets, and answers each line with itself. */
function answering(cell: number, more: { status?: number; linesMax?: number } = {}) {
  return async (body: Readable): Promise<CellAnswer> => {
    const got: string[] = []
    for await (const line of readLines(body, 1_000)) if (line?.length) got.push(line.toString())
    const lines = got
      .slice(0, more.linesMax ?? got.length)
      .map((line, at) => `{"line":${at + 1},"id":"${JSON.parse(line).id}"}\n`)
    const { status = 200 } = more
    const text = status === 200 ? lines.join('') : JSON.stringify({ code: 'database-away' })
    return { cell, status, headers: {}, body: Readable.from([Buffer.from(text)]) as never }
  }
}

async function run(lines: readonly string[], cells: Record<number, ReturnType<typeof answering>>) {
  const batch = await sendBatch({
    // In pieces that end anywhere.
    chunks: Readable.from(
      Buffer.from(lines.join('\n'))
        .toString()
        .match(/[\s\S]{1,37}/g) ?? [],
    ).map((text) => Buffer.from(text as string)),
    directory,
    openPart: (cell) => new BatchPart(cell, cells[cell] as never),
    toProblem,
  })
  if (batch === null || !('lines' in batch)) return batch
  const joined: { line: number; id: string | null; problem?: Problem }[] = []
  for await (const line of batch.lines) joined.push(JSON.parse(line))
  return joined
}

const ids = Array.from({ length: 6 }, () => randomUUID())
const lines = ids.map((id, n) => lineOf(n % 2 ? 0 : 7, id))

test('answers of several cells come in the order of the lines, with their numbers', async () => {
  const joined = await run(['', ...lines], { 0: answering(0), 7: answering(7) })
  assert.deepEqual(
    joined,
    ids.map((id, at) => ({ line: at + 2, id })),
  )
})

test('the lines of a cell that refuses, breaks off or is away have problems, the others have answers', async () => {
  const away = async () => {
    throw new CellFailure(7, 'away')
  }
  for (const [seven, code, good] of [
    [answering(7, { status: 503 }), 'database-away', 3],
    [answering(7, { linesMax: 1 }), 'cell-away', 4],
    [away, 'cell-away', 3],
  ] as const) {
    const joined = await run(lines, { 0: answering(0), 7: seven as never })
    assert.ok(Array.isArray(joined))
    assert.deepEqual(
      joined.map(({ id }) => id),
      ids,
    )
    const codes = joined.flatMap(({ problem }) => problem?.code ?? [])
    assert.deepEqual(codes, Array(6 - good).fill(code))
  }
})

test('a batch that all cells refuse is refused whole', async () => {
  const refused = answering(0, { status: 503 })
  const batch = await run(lines, { 0: refused, 7: refused })
  assert.equal((batch as CellAnswer).status, 503)
  assert.equal(await run(['', ' '], {}), null)
})

test('a batch of too many lines is refused, and what was sent of it is dropped', async () => {
  let isDropped = false
  const swallow = (body: Readable) => {
    body.resume().once('close', () => {
      isDropped = true
    })
    return new Promise<CellAnswer>(() => {})
  }
  const chunks = Readable.from([Buffer.from('{}\n'.repeat(50_001))])
  const openPart = (cell: number) => new BatchPart(cell, swallow)
  await assert.rejects(sendBatch({ chunks, directory, openPart, toProblem }), /50000 lines/)
  await new Promise(setImmediate)
  assert.equal(isDropped, true)
})

test('a line that is longer than any payment is answered without being kept', async () => {
  const kept: (number | null)[] = []
  const chunks = Readable.from(['abc\n', 'abcdef', 'ghi\nx'].map((text) => Buffer.from(text)))
  for await (const line of readLines(chunks, 5)) kept.push(line?.length ?? null)
  assert.deepEqual(kept, [3, null, 1])
})
