import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attemptTimeMs, probeTimeMs } from './due.ts'

const NOW = 1_000_000
const CLOSED = { status: 'ACTIVE', circuit: 'CLOSED', nextProbeAtMs: null } as const
const DOWN = { status: 'ACTIVE', circuit: 'OPEN', nextProbeAtMs: NOW + 5_000 } as const

test('an endpoint that is down is tried at its probe or later, never in the past', () => {
  for (const [nextAttemptAtMs, expected] of [
    [NOW - 60_000, NOW + 5_000],
    [NOW + 60_000, NOW + 60_000],
    // Parked.
    [null, NOW + 5_000],
  ] as const) {
    assert.equal(attemptTimeMs(nextAttemptAtMs, DOWN, NOW), expected)
  }
  const probed = { ...DOWN, circuit: 'HALF_OPEN', nextProbeAtMs: NOW - 5_000 } as const
  assert.equal(attemptTimeMs(NOW - 60_000, probed, NOW), NOW)
})

test('a circuit that is closed leaves the time as it is', () => {
  assert.equal(attemptTimeMs(NOW - 1, CLOSED, NOW), NOW - 1)
  assert.equal(attemptTimeMs(null, CLOSED, NOW), null)
  // A time that an earlier pause has left behind tells nothing.
  assert.equal(probeTimeMs('CLOSED', NOW + 1, NOW), null)
})

test('what waits for a paused or disabled endpoint has no time', () => {
  for (const status of ['PAUSED', 'DISABLED'] as const) {
    assert.equal(attemptTimeMs(NOW + 1, { ...DOWN, status }, NOW), null)
  }
})

test('a probe of which only the circuit is known, from a version before, goes now', () => {
  assert.equal(probeTimeMs('OPEN', null, NOW), NOW)
})
