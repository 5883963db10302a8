import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ExplainedEndpoint, whyOwed } from './why-owed.ts'

const NOW_MS = Date.UTC(2026, 2, 2, 12)
const EVENT = { kind: 'payment.paid', sequence: 3, createdAt: new Date(NOW_MS - 60_000) }

function endpoint(changes: Partial<ExplainedEndpoint> = {}): ExplainedEndpoint {
  return { events: null, status: 'ACTIVE', createdAt: new Date(NOW_MS - 3_600_000), ...changes }
}

test('a delivery says why: it is there, and in which state', () => {
  assert.deepEqual(whyOwed(endpoint(), EVENT, 'DELIVERED', NOW_MS), {
    code: 'owed',
    explanation: 'Update 3 (payment.paid) was delivered.',
  })
  const paused = whyOwed(endpoint({ status: 'PAUSED' }), EVENT, 'PENDING', NOW_MS)
  assert.match(paused.explanation, /still pending: the endpoint is PAUSED\.$/)
  // What was made before the filter was narrowed is still owed.
  const narrowed = endpoint({ events: ['payment.due'] })
  assert.equal(whyOwed(narrowed, EVENT, 'PENDING', NOW_MS).code, 'owed')
})

test('without a delivery it says what kept it away', () => {
  const filtered = whyOwed(
    endpoint({ events: ['payment.due', 'payment.created'] }),
    EVENT,
    null,
    NOW_MS,
  )
  assert.deepEqual(filtered, {
    code: 'not-heard',
    explanation:
      'Update 3 (payment.paid) is not sent here: the endpoint gets only payment.due, payment.created.',
  })
  const late = whyOwed(endpoint({ createdAt: new Date(NOW_MS) }), EVENT, null, NOW_MS)
  assert.equal(late.code, 'registered-later')
  assert.match(late.explanation, /registered later \(12:00:00 UTC\)\.$/)
  const widened = whyOwed(endpoint({ events: ['payment.*'] }), EVENT, null, NOW_MS)
  assert.equal(widened.code, 'no-delivery')
})
