import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { cloneDatabase } from '../../test/support/database.ts'
import { HandClock } from '../../test/support/injected-server.ts'
import { readAttemptSteps } from '../store/history/stats.ts'
import { AttemptCounter } from './attempt-counter.ts'

const { pool } = await cloneDatabase()

test('attempts are written in steps, also those of a step that is over', async () => {
  const errors: unknown[] = []
  const clock = new HandClock()
  const counter = new AttemptCounter({
    pool,
    clock,
    processId: randomUUID(),
    onError: (error) => errors.push(error),
  })
  const atMs = Date.parse('2026-03-02T10:59:30Z')
  counter.count(atMs, true, 10)
  counter.count(atMs, false, 1_000)
  counter.count(atMs + 60_000, true, 10)
  await counter.stop()
  assert.deepEqual(errors, [])
  for (const [stepSeconds, expected] of [
    [
      60,
      [
        [2, 1],
        [1, 1],
      ],
    ],
    [
      900,
      [
        [2, 1],
        [1, 1],
      ],
    ],
    [
      3_600,
      [
        [2, 1],
        [1, 1],
      ],
    ],
  ] as const) {
    const steps = await readAttemptSteps(pool, stepSeconds, new Date(atMs - 3_600_000))
    assert.deepEqual(
      steps.map(({ attempts, delivered }) => [attempts, delivered]),
      expected,
      String(stepSeconds),
    )
  }
})

test('what the database did not take is written the next time', async () => {
  const errors: unknown[] = []
  let isAway = true
  const flaky = new Proxy(pool, {
    get(target, name) {
      if (name === 'query' && isAway) return () => Promise.reject(new Error('away'))
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const counter = new AttemptCounter({
    pool: flaky,
    clock: new HandClock(),
    processId: randomUUID(),
    onError: (error) => errors.push(error),
  })
  const atMs = Date.parse('2026-04-02T10:00:00Z')
  counter.count(atMs, true, 10)
  await counter.stop()
  assert.equal(errors.length, 1)
  isAway = false
  await counter.stop()
  assert.equal((await readAttemptSteps(pool, 60, new Date(atMs)))[0]?.attempts, 1)
})

test('regression: a database that does not answer is asked once at a time, and a stop waits for one write and makes one', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  let asked = 0
  const silence = Promise.withResolvers<never>()
  const query = () => {
    asked++
    return silence.promise
  }
  const silent = new Proxy(pool, {
    get: (target, name) => (name === 'query' ? query : Reflect.get(target, name)),
  })
  const counter = new AttemptCounter({
    pool: silent,
    clock: new HandClock(),
    processId: randomUUID(),
    onError: () => {},
  })
  counter.start()
  counter.count(Date.parse('2026-05-02T10:00:00Z'), true, 10)
  for (let second = 0; second < 60; second++) t.mock.timers.tick(1_000)
  silence.reject(new Error('no answer in time'))
  await counter.stop()
  assert.equal(asked, 2)
})
