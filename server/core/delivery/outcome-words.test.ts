import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  CLIENT_CODES,
  FAILURE_CODES,
  outcomeText,
  outcomeWhy,
  outcomeWords,
  toClientCode,
} from './outcome-words.ts'

test('a client and its operator read the same words, and only the operator the cause behind them', () => {
  for (const code of FAILURE_CODES) {
    const seen = toClientCode(code)
    assert.equal(outcomeWords(code), outcomeWords(seen), code)
    assert.equal(outcomeText(seen), outcomeWords(code), code)
  }
  assert.equal(outcomeText('dns-error'), 'no public address (dns-error)')
  assert.equal(outcomeText('blocked-address'), 'no public address (blocked-address)')
  assert.notEqual(outcomeWhy('dns-error'), outcomeWhy('blocked-address'))
})

test('every way in which an attempt gets no answer has words of its own, and no code for words', () => {
  const words = CLIENT_CODES.map(outcomeWords)
  assert.ok(CLIENT_CODES.includes('no-address') && !CLIENT_CODES.includes('dns-error'))
  assert.equal(new Set(words).size, CLIENT_CODES.length)
  assert.deepEqual(
    CLIENT_CODES.filter((code) => outcomeWords(code) === code),
    [],
  )
})

test('what was answered, and what a newer service says, stays as it is', () => {
  for (const outcome of ['answered 503', 'no answer', 'quantum-error', 'constructor']) {
    assert.equal(outcomeText(outcome), outcome)
    assert.equal(outcomeWhy(outcome), null)
  }
})
