import assert from 'node:assert/strict'
import { test } from 'node:test'
import { admitsDelivered, parseOutcomes } from './outcome-filter.ts'

test('what was delivered can match exactly where a 200 does', () => {
  const admits = (words: string) => {
    const filter = parseOutcomes(words, 'operator', (detail) => assert.fail(detail))
    return admitsDelivered(filter ?? assert.fail())
  }
  for (const words of ['200', '2xx', 'answered', 'timeout,200']) assert.ok(admits(words), words)
  for (const words of ['199', '201', '1xx', '5xx', 'timeout', 'none']) {
    assert.ok(!admits(words), words)
  }
})
