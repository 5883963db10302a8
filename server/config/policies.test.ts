import assert from 'node:assert/strict'
import { test } from 'node:test'
import { policiesOf } from './policies.ts'

const HOUR_MS = 3_600_000

test('the time scale divides every duration', () => {
  const real = policiesOf({ timeScale: 1, orderPatienceMs: HOUR_MS })
  const fast = policiesOf({ timeScale: 1_000, orderPatienceMs: HOUR_MS })
  assert.equal(fast.timeScale, 1_000)
  assert.equal(fast.retry.runMs, real.retry.runMs / 1_000)
  assert.equal(fast.circuit.pauseMs, real.circuit.pauseMs / 1_000)
  assert.equal(fast.patienceMs, HOUR_MS / 1_000)
  assert.equal(fast.keyOverlapMs, real.keyOverlapMs / 1_000)
  assert.equal(fast.notices.everyMs, 1_000, 'never more often than once a second')
})

test('a patience of 7 days never gives way, however fast the clock runs', () => {
  for (const timeScale of [1, 100_000]) {
    const { patienceMs } = policiesOf({ timeScale, orderPatienceMs: 7 * 24 * HOUR_MS })
    assert.equal(patienceMs, Number.POSITIVE_INFINITY)
  }
})

test('what tests compress goes before what the settings say', () => {
  const policies = policiesOf({ timeScale: 1, orderPatienceMs: HOUR_MS }, { patienceMs: 50 })
  assert.deepEqual([policies.patienceMs, policies.timeScale], [50, 1])
})
