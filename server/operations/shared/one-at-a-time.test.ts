import assert from 'node:assert/strict'
import test from 'node:test'
import { ServiceError } from '../../core/plain/errors.ts'
import { OneAtATime } from './one-at-a-time.ts'

/** Work that ends when the test says so, and says when it has begun. */
function workOn(log: string[], name: string) {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const work = () => {
    log.push(name)
    return promise
  }
  return { work, end: () => resolve(name), fail: () => reject(new Error(name)) }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('one after the other for one key, at the same time for others; a failure lets the next go', async () => {
  const log: string[] = []
  const line = new OneAtATime<number>()
  const [first, second, third, other] = ['first', 'second', 'third', 'other'].map((name) =>
    workOn(log, name),
  ) as [Work, Work, Work, Work]
  const runs = [first, second, third].map(({ work }) => line.run(1, work))
  const beside = line.run(2, other.work)
  await settled()
  assert.deepEqual(log, ['first', 'other'])
  first.fail()
  await assert.rejects(runs[0] as Promise<string>, /first/)
  await settled()
  assert.deepEqual(log, ['first', 'other', 'second'])
  second.end()
  third.end()
  other.end()
  assert.deepEqual(await Promise.all([...runs.slice(1), beside]), ['second', 'third', 'other'])
})

test('a full line refuses further work until there is room', async () => {
  const log: string[] = []
  const line = new OneAtATime<number>(2)
  const [first, second, third] = ['first', 'second', 'third'].map((name) => workOn(log, name)) as [
    Work,
    Work,
    Work,
  ]
  const runs = [first, second].map(({ work }) => line.run(1, work))
  const isOverloaded = (error: unknown) =>
    error instanceof ServiceError && error.code === 'overloaded'
  await assert.rejects(line.run(1, third.work), isOverloaded)
  first.end()
  await runs[0]
  const later = line.run(1, third.work)
  second.end()
  third.end()
  assert.equal(await later, 'third')
})

test('work that has waited for too long is refused and never begun; what is under way goes on', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const log: string[] = []
  const line = new OneAtATime<number>(10, 8_000)
  const [first, second, third] = ['first', 'second', 'third'].map((name) => workOn(log, name)) as [
    Work,
    Work,
    Work,
  ]
  const begun = line.run(1, first.work)
  const waiting = line.run(1, second.work)
  await settled()
  t.mock.timers.tick(8_000)
  await assert.rejects(waiting, /under way/)
  const later = line.run(1, third.work)
  first.end()
  third.end()
  assert.deepEqual(await Promise.all([begun, later]), ['first', 'third'])
  assert.deepEqual(log, ['first', 'third'])
})

type Work = ReturnType<typeof workOn>
