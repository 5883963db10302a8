import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CurrentPolicies } from './policies.ts'

const HOUR_MS = 3_600_000

test('a change of the time scale replaces every policy, and no value that a part has read', () => {
  const policies = new CurrentPolicies({ timeScale: 1, orderPatienceMs: HOUR_MS })
  const before = policies.current
  const copy = structuredClone(before)
  policies.changeTimeScale(1_000)
  assert.deepEqual(before, copy)
  const { current } = policies
  assert.equal(current.timeScale, 1_000)
  assert.equal(current.retry.runMs, before.retry.runMs / 1_000)
  assert.equal(current.circuit.pauseMs, before.circuit.pauseMs / 1_000)
  assert.equal(current.patienceMs, HOUR_MS / 1_000)
  assert.equal(current.keyOverlapMs, before.keyOverlapMs / 1_000)
  assert.equal(current.notices.everyMs, 1_000, 'never more often than once a second')
})

test('a patience of 7 days never gives way, however fast the clock runs', () => {
  const policies = new CurrentPolicies({ timeScale: 1, orderPatienceMs: 7 * 24 * HOUR_MS })
  assert.equal(policies.current.patienceMs, Number.POSITIVE_INFINITY)
  policies.changeTimeScale(100_000)
  assert.equal(policies.current.patienceMs, Number.POSITIVE_INFINITY)
})

test('what tests compress holds until the time scale changes', () => {
  const policies = new CurrentPolicies(
    { timeScale: 1, orderPatienceMs: HOUR_MS },
    { patienceMs: 50 },
  )
  assert.equal(policies.current.patienceMs, 50)
  assert.equal(policies.current.timeScale, 1)
  policies.changeTimeScale(10)
  assert.equal(policies.current.patienceMs, HOUR_MS / 10)
})
