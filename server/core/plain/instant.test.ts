import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isInstant } from './instant.ts'

test('every instant that a clock can show is one, as it is usually written', () => {
  fc.assert(
    fc.property(
      fc.date({
        min: new Date('0000-01-01T00:00:00Z'),
        max: new Date('9999-12-31T23:59:59.999Z'),
        noInvalidDate: true,
      }),
      (date) => isInstant(date.toISOString()),
    ),
  )
  for (const text of [
    '2024-02-29T00:00:00Z',
    '2000-02-29t23:59:59z',
    '2026-01-31T09:30:00.123456789+23:59',
    '0000-12-31T00:00:00-00:00',
  ]) {
    assert.ok(isInstant(text), text)
  }
})

test('regression: a day or an hour that no calendar has is none, though the language reads it', () => {
  for (const text of [
    '2026-11-15T24:00:00Z',
    '2026-02-30T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
  ]) {
    assert.ok(!Number.isNaN(Date.parse(text)), 'the language reads it')
    assert.ok(!isInstant(text), text)
  }
  for (const text of [
    '',
    '2026-11-15',
    '2026-11-15T06:00:00',
    '2026-11-15T06:00Z',
    '2026-11-15 06:00:00Z',
    '2026-11-15T06:00:00+24:00',
    '2026-11-15T06:00:60Z',
    '2026-00-15T06:00:00Z',
    '2026-11-00T06:00:00Z',
    '+002026-11-15T06:00:00Z',
    '2026-11-15T06:00:00.1234567890Z',
    '2026-11-15T06:00:00Z\n',
  ]) {
    assert.ok(!isInstant(text), text)
  }
})
