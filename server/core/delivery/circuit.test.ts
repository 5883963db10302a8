import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  afterAttempt,
  afterProbeStarted,
  type Circuit,
  CLOSED_CIRCUIT,
  circuitPolicy,
  mayPass,
} from './circuit.ts'

const POLICY = circuitPolicy()

/** The circuit after failures at these times. */
function failing(atMs: readonly number[], from: Circuit = CLOSED_CIRCUIT): Circuit {
  return atMs.reduce((circuit, ms) => afterAttempt(circuit, false, POLICY, ms), from)
}

const every = (count: number, ms: number) => Array.from({ length: count }, (_, n) => n * ms)
const OPENED = failing([...every(19, 1), 10_000])

test('twenty failures at once do not open it: the endpoint may be restarting', () => {
  const circuit = failing(every(200, 1))
  assert.equal(circuit.state, 'CLOSED')
  assert.equal(circuit.failures, 200)
  assert.ok(mayPass(circuit, 1_000, 200))
})

test('a few failures over a long time do not open it', () => {
  assert.equal(failing(every(19, 60_000)).state, 'CLOSED')
})

test('many failures in a row and for ten seconds open it, for five', () => {
  assert.equal(failing([...every(19, 1), 9_999]).state, 'CLOSED')
  assert.equal(OPENED.state, 'OPEN')
  assert.equal(OPENED.probeAtMs, 15_000)
})

test('one success in between restarts the count', () => {
  const interrupted = afterAttempt(failing(every(19, 1_000)), true, POLICY, 19_000)
  assert.equal(interrupted, CLOSED_CIRCUIT)
  assert.equal(failing(every(19, 1_000), interrupted).state, 'CLOSED')
})

test('an open one lets nothing pass before its pause is over, then one probe at a time', () => {
  assert.ok(!mayPass(OPENED, 0, 14_999))
  assert.ok(mayPass(OPENED, 0, 15_000))
  assert.ok(!mayPass(OPENED, 1, 15_000))
  const probing = afterProbeStarted(OPENED)
  assert.equal(probing.state, 'HALF_OPEN')
  assert.ok(!mayPass(probing, 1, 16_000))
})

test('failed probes double the pause, up to five minutes', () => {
  let circuit = OPENED
  const pausesMs = [circuit.pauseMs]
  for (let probe = 0; probe < 8; probe++) {
    const nowMs = circuit.probeAtMs
    circuit = afterAttempt(afterProbeStarted(circuit), false, POLICY, nowMs)
    assert.equal(circuit.probeAtMs, nowMs + circuit.pauseMs)
    pausesMs.push(circuit.pauseMs)
  }
  assert.deepEqual(
    pausesMs.map((ms) => ms / 1_000),
    [5, 10, 20, 40, 80, 160, 300, 300, 300],
  )
})

test('late failures of attempts that began before it opened lengthen nothing', () => {
  const late = failing([10_001, 12_000, 14_999], OPENED)
  assert.equal(late.probeAtMs, OPENED.probeAtMs)
  assert.equal(late.pauseMs, OPENED.pauseMs)
  assert.equal(late.failures, OPENED.failures + 3)
})

test('a successful probe, and a late success too, close it with a clean record', () => {
  assert.equal(afterAttempt(afterProbeStarted(OPENED), true, POLICY, 15_100), CLOSED_CIRCUIT)
  assert.equal(afterAttempt(OPENED, true, POLICY, 11_000), CLOSED_CIRCUIT)
})

test('starting an attempt changes nothing about a closed circuit', () => {
  assert.equal(afterProbeStarted(CLOSED_CIRCUIT), CLOSED_CIRCUIT)
})

test('law: whatever happens, a probe is never more than five minutes away', () => {
  const steps = fc.array(
    fc.record({ waitMs: fc.nat(400_000), isSuccess: fc.boolean(), isProbe: fc.boolean() }),
  )
  fc.assert(
    fc.property(steps, (happened) => {
      let nowMs = 0
      let circuit: Circuit = CLOSED_CIRCUIT
      for (const { waitMs, isSuccess, isProbe } of happened) {
        nowMs += waitMs
        if (isProbe && mayPass(circuit, 0, nowMs)) circuit = afterProbeStarted(circuit)
        circuit = afterAttempt(circuit, isSuccess, POLICY, nowMs)
        assert.ok(circuit.probeAtMs <= nowMs + 300_000)
        assert.equal(circuit.state === 'CLOSED', circuit.pauseMs === 0)
      }
    }),
  )
})

test('the sandbox runs its pauses as much faster as its clock', () => {
  assert.equal(circuitPolicy(100).pauseMsMax, 3_000)
  assert.equal(circuitPolicy(100).failuresToOpen, 20)
})
