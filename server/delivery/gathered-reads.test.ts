import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turnOver } from '../../test/support/engine-parts.ts'
import { GatheredReads } from './gathered-reads.ts'

/** Reads of numbers that end when the test says so; each finds ten times itself. */
function readsOf(limits: { keysMax: number; statementsMax: number }) {
  const statements: { keys: readonly number[]; end(): void; fail(): void }[] = []
  const reads = new GatheredReads<number, number>({
    ...limits,
    read: (keys) =>
      new Promise((resolve, reject) => {
        statements.push({
          keys,
          end: () => resolve(new Map(keys.map((key) => [String(key), 10 * key]))),
          fail: () => reject(new Error('away')),
        })
      }),
  })
  return { get: (key: number) => reads.get(String(key), key), statements }
}

const keysOf = (statements: readonly { keys: readonly number[] }[]) =>
  statements.map(({ keys }) => keys)

test('those of one turn share a statement, and each gets its own', async () => {
  const { get, statements } = readsOf({ keysMax: 10, statementsMax: 1 })
  const asked = [get(1), get(2), get(3)]
  await turnOver()
  assert.deepEqual(keysOf(statements), [[1, 2, 3]])
  statements[0]?.end()
  assert.deepEqual(await Promise.all(asked), [10, 20, 30])
})

test('while a statement is under way the next gathers, and begins when that has ended', async () => {
  const { get, statements } = readsOf({ keysMax: 10, statementsMax: 1 })
  void get(1)
  await turnOver()
  const later = [get(2), get(1)]
  await turnOver()
  assert.equal(statements.length, 1, 'what is asked for now is not read by what began before')
  statements[0]?.end()
  await turnOver()
  assert.deepEqual(keysOf(statements), [[1], [2, 1]])
  statements[1]?.end()
  assert.deepEqual(await Promise.all(later), [20, 10])
})

test('a statement has so many keys at most, and so many run at once', async () => {
  const { get, statements } = readsOf({ keysMax: 2, statementsMax: 2 })
  const asked = [1, 2, 3, 4, 5].map(get)
  await turnOver()
  assert.deepEqual(keysOf(statements), [
    [1, 2],
    [3, 4],
  ])
  for (const statement of statements) statement.end()
  await turnOver()
  assert.deepEqual(keysOf(statements)[2], [5])
  statements[2]?.end()
  assert.deepEqual(await Promise.all(asked), [10, 20, 30, 40, 50])
})

test('a statement that fails fails its own reads only', async () => {
  const { get, statements } = readsOf({ keysMax: 1, statementsMax: 2 })
  const [first, second] = [get(1), get(2)]
  await turnOver()
  statements[0]?.fail()
  await assert.rejects(first as Promise<unknown>, /away/)
  statements[1]?.end()
  assert.equal(await second, 20)
  const again = get(1)
  await turnOver()
  statements[2]?.end()
  assert.equal(await again, 10)
})

test('what is not found is null', async () => {
  const reads = new GatheredReads<number, number>({
    read: async () => new Map(),
    keysMax: 1,
    statementsMax: 1,
  })
  assert.equal(await reads.get('1', 1), null)
})
