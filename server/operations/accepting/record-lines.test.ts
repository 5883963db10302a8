import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { nextTick } from '../../../test/support/engine-parts.ts'
import { SAMPLE } from '../../../test/support/payment-sample.ts'
import { PAYMENT_BODY_BYTES_MAX } from '../../core/payments/payment.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import { PaymentGatherer } from './payment-gatherer.ts'
import { LINE_LIMITS, type LineLimits, type LineResult, recordLines } from './record-lines.ts'
import type { PaymentChange } from './record-payments.ts'

const ACCOUNT = randomUUID()

function line(reference: string, changes: Record<string, unknown> = {}): string {
  return JSON.stringify({
    ...SAMPLE,
    accountId: ACCOUNT,
    document: undefined,
    reference,
    ...changes,
  })
}

/** A gatherer that records everything at once, with the payment's reference as its text. */
function recordAll(): { gatherer: PaymentGatherer; changes: PaymentChange[] } {
  const changes: PaymentChange[] = []
  const gatherer = new PaymentGatherer(async (batch) => {
    changes.push(...batch)
    return batch.map(({ write }) => ({ outcome: 'created', text: write.reference, event: null }))
  })
  return { gatherer, changes }
}

async function* inChunks(bytes: Uint8Array, ends: readonly number[]): AsyncGenerator<Uint8Array> {
  let start = 0
  for (const end of [...ends.toSorted((a, b) => a - b), bytes.length]) {
    yield bytes.subarray(start, end)
    start = end
  }
}

function record(text: string, limits: Partial<LineLimits> = {}, ends: readonly number[] = []) {
  const chunks = inChunks(Buffer.from(text), ends)
  return recordLines(recordAll().gatherer, chunks, { ...LINE_LIMITS, ...limits })
}

/** `3:ok reference` or `3:code`. */
function summary(results: readonly LineResult[]): string[] {
  return results.map(({ line: number, result }) =>
    result instanceof ServiceError ? `${number}:${result.code}` : `${number}:ok ${result.text}`,
  )
}

test('each line has its result, in order, under its number; blank lines count and have none', async () => {
  const text = `${line('a')}\n\n  \t\r\n${line('b')}\r\nnot json\n${line('c')}`
  const results = await record(text)
  assert.deepEqual(summary(results), ['1:ok a', '4:ok b', '5:malformed-json', '6:ok c'])
  assert.equal(results[0]?.paymentId, SAMPLE.id)
  assert.equal(results[2]?.paymentId, null)
})

test('an empty batch, and one of nothing but newlines, has no results', async () => {
  assert.deepEqual(await record(''), [])
  assert.deepEqual(await record('\n\r\n\n'), [])
})

test('a last line counts with and without its newline', async () => {
  assert.deepEqual(summary(await record(line('a'))), ['1:ok a'])
  assert.deepEqual(summary(await record(`${line('a')}\n`)), ['1:ok a'])
})

test('law: it does not matter where the chunks end, not even within a character', async () => {
  const text = `${line('Grüße 💶')}\r\n\n{}\n${line('ü')}\n[\n${line('end')}`
  const expected = summary(await record(text))
  const length = Buffer.byteLength(text)
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(length), { maxLength: 60 }), async (ends) => {
      assert.deepEqual(summary(await record(text, {}, ends)), expected)
    }),
    { numRuns: 60 },
  )
  const everyByte = Array.from({ length }, (_, at) => at)
  assert.deepEqual(summary(await record(text, {}, everyByte)), expected)
})

test('a line whose fields are wrong still names its payment', async () => {
  const results = await record(line('a', { quoteId: 'no', amount: null }))
  assert.deepEqual(summary(results), ['1:invalid-fields'])
  assert.equal(results[0]?.paymentId, SAMPLE.id)
})

test('the amount arrives as it was written', async () => {
  const { gatherer, changes } = recordAll()
  const text = line('a').replace('12345.67', '100.00')
  await recordLines(gatherer, inChunks(Buffer.from(text), []))
  assert.equal(changes[0]?.write.amount.amount, '100.00')
  assert.equal(changes[0]?.accountId, ACCOUNT)
})

test('a line that is longer than any payment is refused, and its neighbours are not', async () => {
  const long = 'x'.repeat(PAYMENT_BODY_BYTES_MAX + 1)
  const text = `${line('a')}\n${long}\n${line('b')}\n${long}`
  const ends = Array.from({ length: 400 }, (_, n) => n * 65_536).filter((at) => at < text.length)
  const expected = ['1:ok a', '2:body-too-large', '3:ok b', '4:body-too-large']
  assert.deepEqual(summary(await record(text, {}, ends)), expected)
  assert.deepEqual(summary(await record(text)), expected)
})

test('too many lines, and too many bytes, end the batch', async () => {
  const three = `${line('a')}\n\n${line('b')}\n${line('c')}\n`
  assert.equal((await record(three, { linesMax: 3 })).length, 3)
  await assert.rejects(record(three, { linesMax: 2 }), { code: 'body-too-large' })
  const bytesMax = Buffer.byteLength(three)
  assert.equal((await record(three, { bytesMax })).length, 3)
  await assert.rejects(record(three, { bytesMax: bytesMax - 1 }), { code: 'body-too-large' })
})

test('I11: so many lines are under way and no more, and no more are read while they are', async () => {
  const open: (() => void)[] = []
  const gatherer = new PaymentGatherer(
    (changes) =>
      new Promise((resolve) => {
        const results = changes.map(({ write }) => {
          return { outcome: 'created' as const, text: write.reference, event: null }
        })
        open.push(() => resolve(results))
      }),
    {
      changesPerFlushMax: 1,
      bytesPerFlushMax: 1_000,
      flushesMax: 100,
      waitingMax: 100,
      waitingBytesMax: 100,
    },
  )
  let read = 0
  async function* lines() {
    for (; read < 10; read++) yield Buffer.from(`${line(String(read), { id: randomUUID() })}\n`)
  }
  let isDone = false
  const limits = { ...LINE_LIMITS, underWayMax: 3 }
  const results = recordLines(gatherer, lines(), limits).finally(() => {
    isDone = true
  })
  for (let ended = 0; !isDone; ended++) {
    // One iteration of the loop to read a line, one until its transaction begins.
    for (let turns = 0; turns < 10 && open.length <= ended; turns++) await nextTick()
    assert.ok(open.length - ended <= 3, 'three under way')
    assert.ok(read - ended <= 4, 'and one that waits')
    open[ended]?.()
    await nextTick()
  }
  assert.equal((await results).length, 10)
})

test('I11: bytes under way are bounded too; a line larger than the bound goes alone', async () => {
  const text = `${line('a')}\n${line('b')}\n${line('c')}\n`
  assert.deepEqual(summary(await record(text, { underWayBytesMax: 1 })), [
    '1:ok a',
    '2:ok b',
    '3:ok c',
  ])
})

test('A10: with the database away for every line, the whole batch is asked to come back', async () => {
  const gatherer = new PaymentGatherer(async () => {
    throw Object.assign(new Error('gone'), { code: 'ECONNREFUSED' })
  })
  const text = `${line('a')}\n${line('b')}\n`
  await assert.rejects(recordLines(gatherer, inChunks(Buffer.from(text), [])), {
    code: 'database-away',
  })
  // One line that was judged all the same is an answer, and then each line has its own.
  const mixed = `${line('a')}\nnot json\n`
  const results = await recordLines(gatherer, inChunks(Buffer.from(mixed), []))
  assert.deepEqual(summary(results), ['1:database-away', '2:malformed-json'])
})

test('a caller that breaks off in the middle is an error, and nothing is left unhandled', async () => {
  async function* broken() {
    yield Buffer.from(`${line('a')}\n`)
    throw new Error('aborted')
  }
  await assert.rejects(recordLines(recordAll().gatherer, broken()), /aborted/)
})
