import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idOf } from '../../../test/support/engine-parts.ts'
import { CLOSED_CIRCUIT } from '../../core/delivery/circuit.ts'
import type { Outcome } from '../../core/delivery/delivery.ts'
import { DURATION_BUCKETS, durationBucket } from '../../core/delivery/health.ts'
import { HealthCounter } from './health-counter.ts'

const A = { clientKey: 1, endpointId: idOf(1), shard: 7 }
const B = { clientKey: 2, endpointId: idOf(2), shard: 7 }
const OK: Outcome = { kind: 'answered', status: 200 }
const BUSY: Outcome = { kind: 'answered', status: 503 }
const GONE: Outcome = { kind: 'unreachable', reason: 'connect-error' }
const CLOSED = () => CLOSED_CIRCUIT

test('it adds up for each endpoint, and starts from zero when it is taken', () => {
  const counter = new HealthCounter()
  counter.count(A, OK, 3, 1_000)
  counter.count(A, BUSY, 300, 2_000)
  counter.count(B, OK, 3, 1_500)
  assert.equal(counter.size, 2)
  assert.deepEqual(counter.takeShard(6, 10, CLOSED), [])
  const [a, b] = counter.takeShard(7, 10, CLOSED)
  assert.equal(a?.attempts, 2)
  assert.equal(a?.delivered, 1)
  assert.equal(a?.durations.length, DURATION_BUCKETS)
  assert.equal(a?.durations[durationBucket(3)], 1)
  assert.equal(a?.durations[durationBucket(300)], 1)
  assert.equal(b?.clientKey, 2)
  assert.equal(b?.attempts, 1)
  assert.deepEqual(counter.takeShard(7, 10, CLOSED), [])
  assert.equal(counter.size, 0)
})

test('failing begins with the first failure after the last success', () => {
  const counter = new HealthCounter()
  counter.count(A, BUSY, 1, 1_000)
  counter.count(A, OK, 1, 2_000)
  counter.count(A, BUSY, 1, 3_000)
  counter.count(A, GONE, 1, 4_000)
  const [delta] = counter.takeNews(10, () => ({ state: 'OPEN', probeAtMs: 9_000 }))
  assert.equal(delta?.failingSinceMs, 3_000)
  assert.equal(delta?.lastSuccessAtMs, 2_000)
  assert.equal(delta?.lastFailureAtMs, 4_000)
  assert.equal(delta?.lastError, 'connect-error')
  assert.equal(delta?.circuit, 'OPEN')
  assert.equal(delta?.nextProbeAtMs, 9_000)
})

test('a success at the end means that it does not fail; the error says what was answered', () => {
  const counter = new HealthCounter()
  counter.count(A, BUSY, 1, 1_000)
  counter.count(A, OK, 1, 2_000)
  const [delta] = counter.takeShard(7, 10, CLOSED)
  assert.equal(delta?.failingSinceMs, null)
  assert.equal(delta?.lastError, 'answered 503')
})

test('what could not be written is put back, and counts on as the older part', () => {
  const counter = new HealthCounter()
  counter.count(A, { kind: 'answered', status: 500 }, 3, 1_000)
  const unwritten = counter.takeNews(10, CLOSED)
  counter.count(A, BUSY, 3, 2_000)
  counter.putBack(unwritten)
  const [failing] = counter.takeNews(10, CLOSED)
  assert.equal(failing?.attempts, 2)
  assert.equal(failing?.durations[durationBucket(3)], 2)
  assert.equal(failing?.failingSinceMs, 1_000)
  assert.equal(failing?.lastError, 'answered 503')

  counter.count(A, { kind: 'answered', status: 500 }, 3, 3_000)
  const older = counter.takeNews(10, CLOSED)
  counter.count(A, OK, 3, 4_000)
  counter.putBack(older)
  const [well] = counter.takeShard(7, 10, CLOSED)
  assert.equal(well?.failingSinceMs, null)
  assert.equal(well?.lastSuccessAtMs, 4_000)
})

test('a failure is news once, and so is what it fails with, its end, and a move of its circuit', () => {
  const counter = new HealthCounter()
  const newsOf = (state: 'CLOSED' | 'OPEN' = 'CLOSED', probeAtMs = 9_000) => {
    const taken = counter.takeNews(10, () => ({ state, probeAtMs }))
    counter.written(taken)
    return taken.length
  }
  counter.count(A, BUSY, 3, 1_000)
  assert.equal(newsOf(), 1)
  counter.count(A, BUSY, 3, 2_000)
  assert.equal(newsOf(), 0, 'it still fails, with the same answer')
  counter.count(A, GONE, 3, 3_000)
  assert.equal(newsOf(), 1, 'with something else')
  counter.count(A, GONE, 3, 4_000)
  assert.equal(newsOf('OPEN'), 1, 'its circuit is open')
  counter.count(A, GONE, 3, 4_500)
  assert.equal(newsOf('OPEN'), 0, 'a late failure moves no probe')
  counter.count(A, GONE, 3, 9_000)
  assert.equal(newsOf('OPEN', 19_000), 1, 'a probe has failed: the next one is later')
  counter.count(A, OK, 3, 5_000)
  assert.equal(newsOf(), 1, 'it is well')
  counter.count(A, OK, 3, 6_000)
  assert.equal(newsOf(), 0)
  assert.equal(counter.size, 1, 'what is no news counts on')
})

test('of an endpoint that answers it is asked first whether it is shown as failing', () => {
  const counter = new HealthCounter()
  counter.count(A, OK, 3, 1_000)
  counter.count(B, OK, 3, 1_000)
  assert.deepEqual(counter.takeNews(10, CLOSED), [])
  const asked = counter.unknown(10)
  assert.deepEqual(
    asked.map(({ endpointId }) => endpointId),
    [A.endpointId, B.endpointId],
  )
  const failing = { isFailing: true, error: 'timeout', circuit: 'OPEN', nextProbeAtMs: 1 } as const
  counter.learn(asked, new Map([[B.endpointId, failing]]))
  const news = counter.takeNews(10, CLOSED)
  assert.deepEqual(
    news.map(({ endpointId }) => endpointId),
    [B.endpointId],
  )
  assert.deepEqual(counter.unknown(10), [], 'asked once')
  counter.forgetShown()
  counter.count(A, OK, 3, 2_000)
  assert.equal(counter.unknown(10).length, 1, 'and again when another process may have written')
})

test('what has failed to be written is news again', () => {
  const counter = new HealthCounter()
  counter.count(A, BUSY, 3, 1_000)
  counter.putBack(counter.takeNews(10, CLOSED))
  assert.equal(counter.takeNews(10, CLOSED).length, 1)
})
