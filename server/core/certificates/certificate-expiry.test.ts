import assert from 'node:assert/strict'
import test from 'node:test'
import { daysToTell } from './certificate-expiry.ts'

const DAY_MS = 86_400_000
const NOW_MS = Date.UTC(2026, 10, 18)

const due = (daysLeft: number, toldDays: number | null) =>
  daysToTell({ notAfterMs: NOW_MS + daysLeft * DAY_MS, toldDays }, NOW_MS)

test('each of 30, 7 and 1 days is due once, from that moment on', () => {
  assert.equal(due(30.01, null), null)
  assert.equal(due(30, null), 30)
  assert.equal(due(29, 30), null)
  assert.equal(due(7, 30), 7)
  assert.equal(due(1.01, 7), null)
  assert.equal(due(1, 7), 1)
  assert.equal(due(0.5, 1), null)
})

test('one that came late is told of the smallest that has passed, also after its end', () => {
  assert.equal(due(5, null), 7)
  assert.equal(due(0.2, 30), 1)
  assert.equal(due(-3, 7), 1)
  assert.equal(due(-3, 1), null)
})
