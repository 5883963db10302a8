import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEBT_POLICY, HandshakeDebts } from './handshake-debts.ts'

const A = 'https: a.example 443'
const B = 'https: b.example 443'
const start = () => new HandshakeDebts(DEBT_POLICY)

/** For how long an origin pauses from this moment on. */
function pauseMs(debts: HandshakeDebts, origin: string, nowMs: number, clientKey = 1): number {
  let ms = 0
  while (debts.isPaused(clientKey, origin, nowMs + ms)) ms += 100
  return ms
}

test('usual handshakes never pause, however many there are', () => {
  const debts = start()
  for (let n = 0; n < 10_000; n += 1) debts.charge(1, A, 5, 0)
  assert.equal(pauseMs(debts, A, 0), 0)
})

test('a handshake above 50 ms pauses its origin for this client, and no other', () => {
  const debts = start()
  debts.charge(1, A, 800, 0)
  assert.equal(debts.isPaused(1, A, 0), true)
  assert.equal(debts.isPaused(1, B, 0), false)
  assert.equal(debts.isPaused(2, A, 0), false)
  assert.ok(pauseMs(debts, A, 0) >= 795 / 0.05)
})

test('each pause is twice as long as the one before, an hour at most, and forgotten when all is well', () => {
  const debts = start()
  const pauses: number[] = []
  let nowMs = 0
  for (let n = 0; n < 12; n += 1) {
    debts.charge(1, A, 105, nowMs)
    const ms = pauseMs(debts, A, nowMs)
    pauses.push(ms)
    nowMs += ms + 10_000
  }
  assert.deepEqual(pauses.slice(0, 5), [2_000, 4_000, 8_000, 16_000, 32_000])
  assert.equal(pauses.at(-1), 3_600_000)
  nowMs += 10 * 3_600_000
  debts.charge(1, A, 105, nowMs)
  assert.equal(pauseMs(debts, A, nowMs), 2_000)
})

test('many handshakes that are each a little costly add up; spread out they do not', () => {
  const debts = start()
  for (let n = 0; n < 6; n += 1) debts.charge(1, A, 15, 0)
  assert.equal(debts.isPaused(1, A, 0), true)
  const spread = start()
  for (let n = 0; n < 1_000; n += 1) spread.charge(1, A, 15, n * 200)
  assert.equal(spread.isPaused(1, A, 200_000), false)
})

test('a client with many such origins has a bound for all of them together', () => {
  const debts = start()
  const origins = Array.from({ length: 20 }, (_, n) => `https: ${n}.example 443`)
  for (const origin of origins) debts.charge(1, origin, 45, 0)
  const paused = origins.filter((origin) => debts.isPaused(1, origin, 0))
  assert.equal(paused.length, 14, 'the first six owe 240 ms together')
  assert.equal(debts.isPaused(1, 'https: quick.example 443', 0), false)
})
