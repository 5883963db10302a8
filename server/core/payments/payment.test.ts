import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  CURRENCY,
  FILE_BASE64_CHARACTERS_MAX,
  isFinal,
  MOVES,
  PAYMENT_BODY_BYTES_MAX,
  PAYMENT_STATES,
  PURPOSES,
  TEXT_CHARACTERS_MAX,
} from './payment.ts'

test('there are 32 purposes and 5 states, each once', () => {
  assert.equal(new Set(PURPOSES).size, 32)
  assert.equal(PURPOSES.length, 32)
  assert.deepEqual([...PAYMENT_STATES].sort(), Object.keys(MOVES).sort())
})

test('PAID and CANCELLED are final, and no state moves to itself', () => {
  assert.deepEqual(PAYMENT_STATES.filter(isFinal), ['CANCELLED', 'PAID'])
  for (const state of PAYMENT_STATES) assert.ok(!MOVES[state].includes(state))
})

test('every state can be reached from DRAFT', () => {
  const reached = new Set(['DRAFT'])
  for (const state of reached) {
    for (const next of MOVES[state as keyof typeof MOVES]) reached.add(next)
  }
  assert.equal(reached.size, PAYMENT_STATES.length)
})

test('P4: a currency is three capital ASCII letters', () => {
  for (const good of ['EUR', 'XXX']) assert.match(good, CURRENCY)
  for (const bad of ['usd', 'US', 'USDD', 'ＵＳＤ', 'US1', 'USD\n', ''])
    assert.doesNotMatch(bad, CURRENCY)
})

test('P1: the largest payment that conforms fits into the largest body, even all in escapes', () => {
  const texts = 5 * TEXT_CHARACTERS_MAX * '\\ud83d\\ude00'.length
  const others = 10_000
  assert.ok(FILE_BASE64_CHARACTERS_MAX + texts + others <= PAYMENT_BODY_BYTES_MAX)
})
