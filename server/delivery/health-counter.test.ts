import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idOf } from '../../test/support/engine-parts.ts'
import type { Outcome } from '../core/delivery.ts'
import { durationBucket } from '../core/health.ts'
import { HealthCounter } from './health-counter.ts'

const A = { clientKey: 1, endpointId: idOf(1) }
const B = { clientKey: 2, endpointId: idOf(2) }
const OK: Outcome = { kind: 'answered', status: 200 }
const BUSY: Outcome = { kind: 'answered', status: 503 }
const GONE: Outcome = { kind: 'unreachable', reason: 'connect-error' }

test('it adds up for each endpoint, and starts from zero when it is taken', () => {
  const counter = new HealthCounter()
  counter.count(A, OK, 3, 1_000)
  counter.count(A, BUSY, 300, 2_000)
  counter.count(B, OK, 3, 1_500)
  const [a, b] = counter.take(10, () => 'CLOSED')
  assert.equal(a?.attempts, 2)
  assert.equal(a?.delivered, 1)
  assert.equal(a?.durations[durationBucket(3)], 1)
  assert.equal(a?.durations[durationBucket(300)], 1)
  assert.equal(b?.clientKey, 2)
  assert.equal(b?.attempts, 1)
  assert.deepEqual(
    counter.take(10, () => 'CLOSED'),
    [],
  )
})

test('failing begins with the first failure after the last success', () => {
  const counter = new HealthCounter()
  counter.count(A, BUSY, 1, 1_000)
  counter.count(A, OK, 1, 2_000)
  counter.count(A, BUSY, 1, 3_000)
  counter.count(A, GONE, 1, 4_000)
  const [delta] = counter.take(10, () => 'OPEN')
  assert.equal(delta?.failingSinceMs, 3_000)
  assert.equal(delta?.lastSuccessAtMs, 2_000)
  assert.equal(delta?.lastFailureAtMs, 4_000)
  assert.equal(delta?.lastError, 'connect-error')
  assert.equal(delta?.circuit, 'OPEN')
})

test('a success at the end means that it does not fail; the error says what was answered', () => {
  const counter = new HealthCounter()
  counter.count(A, BUSY, 1, 1_000)
  counter.count(A, OK, 1, 2_000)
  const [delta] = counter.take(10, () => 'CLOSED')
  assert.equal(delta?.failingSinceMs, null)
  assert.equal(delta?.lastError, 'answered 503')
})

test('what could not be written is put back, and counts on as the older part', () => {
  const counter = new HealthCounter()
  const of = { clientKey: 1, endpointId: 'e' }
  counter.count(of, { kind: 'answered', status: 500 }, 3, 1_000)
  const unwritten = counter.take(10, () => 'CLOSED')
  counter.count(of, { kind: 'answered', status: 503 }, 3, 2_000)
  counter.putBack(unwritten)
  const [failing] = counter.take(10, () => 'CLOSED')
  assert.equal(failing?.attempts, 2)
  assert.equal(failing?.failingSinceMs, 1_000)
  assert.equal(failing?.lastError, 'answered 503')

  counter.count(of, { kind: 'answered', status: 500 }, 3, 3_000)
  const older = counter.take(10, () => 'CLOSED')
  counter.count(of, { kind: 'answered', status: 200 }, 3, 4_000)
  counter.putBack(older)
  const [well] = counter.take(10, () => 'CLOSED')
  assert.equal(well?.failingSinceMs, null)
  assert.equal(well?.lastSuccessAtMs, 4_000)
})

test('of very many, those with failures are taken first, then those that have waited longest', () => {
  const counter = new HealthCounter()
  for (let number = 0; number < 6; number++) {
    counter.count({ clientKey: 1, endpointId: idOf(number) }, number === 4 ? BUSY : OK, 3, 1_000)
  }
  const taken = (endpointsMax: number) =>
    counter.take(endpointsMax, () => 'CLOSED').map(({ endpointId }) => endpointId)
  assert.deepEqual(taken(3), [4, 0, 1].map(idOf))
  assert.equal(counter.size, 3)
  // Endpoints that were taken and counted again come after those that have waited all along.
  counter.count({ clientKey: 1, endpointId: idOf(0) }, OK, 3, 2_000)
  counter.count({ clientKey: 1, endpointId: idOf(2) }, OK, 3, 2_000)
  const [second, ...rest] = counter.take(10, () => 'CLOSED')
  assert.equal(second?.endpointId, idOf(2))
  assert.equal(second?.attempts, 2, 'what has waited has counted on')
  assert.deepEqual(
    rest.map(({ endpointId }) => endpointId),
    [3, 5, 0].map(idOf),
  )
})
