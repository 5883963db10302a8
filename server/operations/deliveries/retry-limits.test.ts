import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RetryLimits } from './retry-limits.ts'

test('a hundred retries of one endpoint in a row, then five a second; others are not held up', () => {
  let nowMs = 0
  const limits = new RetryLimits({ monotonicMs: () => nowMs })
  for (let count = 0; count < 100; count++) limits.admit('one')
  assert.throws(() => limits.admit('one'), { code: 'too-many-requests', retryAfterSeconds: 1 })
  limits.admit('other')
  nowMs += 1_000
  for (let count = 0; count < 5; count++) limits.admit('one')
  assert.throws(() => limits.admit('one'))
})
