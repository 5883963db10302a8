import assert from 'node:assert/strict'
import { test } from 'node:test'
import { circuitPolicy } from '../../core/delivery/circuit.ts'
import { LanePace } from './lane-pace.ts'

const POLICY = { inFlightMax: 64, ratePerSecond: null }
const CIRCUIT = { ...circuitPolicy(), failuresToOpen: 2, failingMsToOpen: 0 }
const FAILED = { isSuccess: false, durationMs: 1, bodyBytes: 1 }
const DELIVERED = { ...FAILED, isSuccess: true }

/** A lane whose circuit has opened at 1,000: the first probe is due at 6,000. */
function broken(): LanePace {
  const lane = new LanePace()
  for (const startedAtMs of [0, 1_000]) {
    lane.started(POLICY, startedAtMs)
    lane.answered(FAILED, POLICY, CIRCUIT, startedAtMs, startedAtMs)
  }
  assert.equal(lane.circuit.state, 'OPEN')
  assert.equal(lane.startsAtMs(1_000), 6_000)
  return lane
}

test('a retry lets one attempt probe an open circuit at once, and its 200 lets more follow step by step', () => {
  const lane = broken()
  lane.retry(2_000, 2_000)
  assert.equal(lane.circuit.state, 'HALF_OPEN')
  assert.equal(lane.startsAtMs(2_000), 2_000)
  lane.started(POLICY, 2_000)
  assert.equal(lane.startsAtMs(2_000), Number.POSITIVE_INFINITY)
  lane.answered(DELIVERED, POLICY, CIRCUIT, 2_100, 2_000)
  assert.equal(lane.circuit.state, 'CLOSED')
  lane.started(POLICY, 2_100)
  assert.equal(lane.startsAtMs(2_100), Number.POSITIVE_INFINITY)
})

test('a retry of a closed circuit changes nothing about it', () => {
  const lane = new LanePace()
  lane.retry(1_000, 1_000)
  assert.equal(lane.circuit.state, 'CLOSED')
})

test('a probe that began before a retry and fails tells nothing: the next one goes at once', () => {
  const lane = broken()
  lane.started(POLICY, 6_000)
  lane.retry(7_000, 7_000)
  lane.answered(FAILED, POLICY, CIRCUIT, 21_000, 6_000)
  assert.equal(lane.circuit.state, 'HALF_OPEN')
  assert.equal(lane.startsAtMs(21_000), 21_000)
})

test('a probe after a retry that fails opens the circuit again, with a longer pause', () => {
  const lane = broken()
  lane.retry(2_000, 2_000)
  lane.started(POLICY, 2_000)
  lane.answered(FAILED, POLICY, CIRCUIT, 3_000, 2_000)
  assert.equal(lane.circuit.state, 'OPEN')
  assert.equal(lane.startsAtMs(3_000), 13_000)
})

test('a retry that is heard of twice, announced and found, counts once', () => {
  const lane = broken()
  lane.retry(2_000, 2_000)
  lane.started(POLICY, 2_000)
  lane.answered(FAILED, POLICY, CIRCUIT, 2_500, 2_000)
  lane.retry(2_000, 3_000)
  assert.equal(lane.circuit.state, 'OPEN')
  lane.retry(4_000, 4_000)
  assert.equal(lane.circuit.state, 'HALF_OPEN')
})

test('regression: a retry counts although the clock has gone back since the last one', () => {
  const lane = broken()
  lane.retry(3_600_000, 2_000)
  lane.started(POLICY, 2_000)
  lane.answered(FAILED, POLICY, CIRCUIT, 2_500, 2_000)
  lane.retry(5_000, 3_000)
  assert.equal(lane.circuit.state, 'HALF_OPEN')
})
