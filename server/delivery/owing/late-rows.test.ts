import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testEnvironment } from '../../../test/support/engine-parts.ts'
import { latestDueMs, retryPolicy } from '../../core/delivery/backoff.ts'
import { LateRows } from './late-rows.ts'

const HOUR_MS = 3_600_000

/** Shard 7 is held. `stepMs`: by how much the next reading sets the clock back. */
function startLateRows(bringForward: () => Promise<number>) {
  const asked: number[] = []
  const environment = testEnvironment({
    bringForward: (_lease, latestMs) => {
      asked.push(latestMs[0] as number)
      return bringForward()
    },
  })
  let nowMs = 10 * HOUR_MS
  let monotonicMs = 0
  Object.assign(environment, {
    clock: { nowMs: () => nowMs + monotonicMs, monotonicMs: () => monotonicMs },
  })
  const readAnew: string[] = []
  const parts = {
    shards: { held: [7], epochOf: (shard: number) => (shard === 7 ? 1 : undefined) },
    lanes: { removeShard: (shard: number) => readAnew.push(`forget ${shard}`) },
    reader: { lose() {}, gain: ([shard]: number[]) => readAnew.push(`read ${shard}`) },
    findParked() {},
    read() {},
  }
  const lateRows = new LateRows(environment, parts as never, retryPolicy())
  return {
    ...{ lateRows, asked, readAnew, environment },
    step: (backMs: number) =>
      lateRows.watch(() => {
        nowMs -= backMs
      }),
    pass: (ms: number) => {
      monotonicMs += ms
    },
  }
}

test('regression: a clock that goes back has rows of the future brought forward, and the shard read again', async () => {
  const { lateRows, step, asked, readAnew, environment } = startLateRows(async () => 0)
  step(HOUR_MS)
  await lateRows.round()
  assert.deepEqual(asked, [9 * HOUR_MS], 'by the clock as it is now')
  assert.deepEqual(readAnew, ['forget 7', 'read 7'], 'what is in memory may be late, too')
  assert.deepEqual(environment.warnings, ['database-clock.went-back'])
  await lateRows.round()
  assert.equal(asked.length, 1, 'once')
})

test('regression: rows that a process writes by the old clock after the others have looked are brought forward, too', async () => {
  let found = 0
  const { lateRows, step, asked, readAnew, pass } = startLateRows(async () => found)
  step(HOUR_MS)
  await lateRows.round()
  readAnew.length = 0
  pass(29_000)
  await lateRows.round()
  assert.equal(asked.length, 1)
  found = 1
  pass(1_000)
  await lateRows.round()
  assert.deepEqual(readAnew, ['forget 7', 'read 7'])
  found = 0
  pass(30_000)
  await lateRows.round()
  assert.deepEqual([asked.length, readAnew.length], [3, 2], 'nothing was late')
  pass(10 * 60_000)
  await lateRows.round()
  assert.equal(asked.length, 3, 'the end of the doubt')
})

test('readings that differ by a second or two are no step', async () => {
  const { lateRows, step, asked } = startLateRows(async () => 0)
  step(2_000)
  step(-HOUR_MS)
  await lateRows.round()
  assert.deepEqual(asked, [])
})

test('a shard that is gained after a start is looked at once, and read again where it had such rows', async () => {
  let found = 0
  const { lateRows, readAnew, asked, pass } = startLateRows(async () => found)
  lateRows.gained([7, 8])
  await lateRows.round()
  assert.deepEqual([asked.length, readAnew], [1, []], 'shard 8 is not held any more')
  found = 3
  lateRows.gained([7])
  await lateRows.round()
  assert.deepEqual(readAnew, ['forget 7', 'read 7'])
  pass(11 * 60_000)
  lateRows.gained([7])
  await lateRows.round()
  assert.equal(asked.length, 2, 'later gains are ordinary ones')
})

test('what the database did not let be done is done with the next round', async () => {
  let isAway = true
  const { lateRows, step, asked, readAnew } = startLateRows(() =>
    isAway ? Promise.reject(new Error('away')) : Promise.resolve(0),
  )
  step(HOUR_MS)
  await lateRows.round()
  assert.deepEqual(readAnew, [])
  isAway = false
  await lateRows.round()
  assert.deepEqual([asked.length, readAnew.length], [2, 2])
})

test('a delivery is due at the latest after twice its longest delay, and at once before its first attempt', () => {
  const latest = latestDueMs(retryPolicy(), 1_000)
  assert.deepEqual(latest.slice(0, 3), [1_000, 1_000 + 12_000, 1_000 + 24_000])
  assert.equal(latest.at(-1), 51_841_000)
  assert.equal(latest.length, 15, 'from the 14th attempt on the delay is 6 hours')
})
