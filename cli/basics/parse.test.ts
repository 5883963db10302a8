import assert from 'node:assert/strict'
import { test } from 'node:test'
import { id, integer, listOf, oneOf, parseDuration, parseInstant, webUrl } from './parse.ts'

const NOW = Date.parse('2026-11-15T12:00:00Z')

for (const [text, instant] of [
  ['2h', '2026-11-15T10:00:00.000Z'],
  ['7d', '2026-11-08T12:00:00.000Z'],
  ['2026-11-14', '2026-11-14T00:00:00.000Z'],
  ['2026-11-14T10:00:00Z', '2026-11-14T10:00:00.000Z'],
  ['2026-11-14T10:00+02:00', '2026-11-14T08:00:00.000Z'],
] as const) {
  test(`${text} is the instant ${instant}`, () => {
    assert.equal(parseInstant(text, NOW), instant)
  })
}

for (const text of [
  '',
  'yesterday',
  '2026-11-14T10:00:00',
  '2026-13-01',
  '2026-02-30',
  '2026-11-15T24:00Z',
  '14.11.2026',
  '1w',
  '2h ',
]) {
  test(`"${text}" is no instant`, () => {
    assert.throws(() => parseInstant(text, NOW), /how long ago/)
  })
}

test('durations, numbers, ids and words are taken or refused', () => {
  assert.equal(parseDuration('250ms'), 250)
  assert.throws(() => parseDuration('5'))
  assert.equal(integer(1, 5)('5'), 5)
  for (const text of ['0', '6', '1.5', 'x', '']) assert.throws(() => integer(1, 5)(text))
  assert.equal(id('01A1DD3C-57D6-7001-9E6F-60DE241483EC'), '01a1dd3c-57d6-7001-9e6f-60de241483ec')
  assert.throws(() => id('nope'))
  assert.equal(oneOf(['PAID', 'DUE'])('paid'), 'PAID')
  assert.throws(() => oneOf(['PAID', 'DUE'])('LOST'), /PAID, DUE/)
  assert.deepEqual(listOf(['A', 'B', 'C'])('a,b', ['C']), ['C', 'A', 'B'])
  assert.equal(webUrl('http://127.0.0.1:8080//'), 'http://127.0.0.1:8080')
  assert.throws(() => webUrl('127.0.0.1:8080'))
})
