import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LifeSigns } from './life-signs.ts'

const LEASE_MS = 25_000

function reading(marks: Record<string, string>): ReadonlyMap<string, string> {
  return new Map(Object.entries(marks))
}

test('silence counts from the reading that first showed the mark', () => {
  const signs = new LifeSigns<string>()
  signs.read(reading({ a: '1' }), 1_000)
  signs.read(reading({ a: '1' }), 20_000)
  assert.equal(signs.silentFor(LEASE_MS, 25_999).size, 0)
  assert.deepEqual([...signs.silentFor(LEASE_MS, 26_000)], [['a', '1']])
})

test('any change is life, whatever the mark says', () => {
  const signs = new LifeSigns<string>()
  signs.read(reading({ a: '9/2030' }), 0)
  signs.read(reading({ a: '8/1999' }), 24_999)
  assert.equal(signs.silentFor(LEASE_MS, 26_000).size, 0)
  assert.deepEqual([...signs.silentFor(LEASE_MS, 49_999)], [['a', '8/1999']])
})

test('what is no longer there is forgotten, and starts again when it comes back', () => {
  const signs = new LifeSigns<string>()
  signs.read(reading({ a: '1' }), 0)
  signs.read(reading({}), 10_000)
  signs.read(reading({ a: '1' }), 20_000)
  assert.equal(signs.silentFor(LEASE_MS, 30_000).size, 0)
  assert.equal(signs.silentFor(LEASE_MS, 45_000).size, 1)
})

test('what is seen for the first time counts as alive until it was silent for long', () => {
  const signs = new LifeSigns<string>()
  signs.read(reading({ a: '1', b: '1' }), 0)
  assert.equal(signs.countAlive(10_000, 9_999), 2)
  signs.read(reading({ a: '1', b: '2' }), 9_999)
  assert.equal(signs.countAlive(10_000, 10_000), 1)
})

test('the next moment of silence lies ahead: one that has passed is no reason to look again', () => {
  const signs = new LifeSigns<string>()
  assert.equal(signs.nextSilentAtMs(LEASE_MS, 0), Number.POSITIVE_INFINITY)
  signs.read(reading({ a: '1' }), 1_000)
  signs.read(reading({ a: '1', b: '1' }), 5_000)
  assert.equal(signs.nextSilentAtMs(LEASE_MS, 5_000), 26_000)
  assert.equal(signs.nextSilentAtMs(LEASE_MS, 26_000), 30_000)
  assert.equal(signs.nextSilentAtMs(LEASE_MS, 30_000), Number.POSITIVE_INFINITY)
})
