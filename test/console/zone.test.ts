// The zone that the console's times are in, without a browser.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toInputValue, toInstant } from '../../console/src/ui/times/instant.ts'
import { chooseZone, isToday, toFieldTime, zoneName } from '../../console/src/ui/times/zone.ts'

const AT = '2026-11-15T23:30:05.000Z'

test('a field holds the time of the chosen zone, and gives the instant back', (t) => {
  t.after(() => chooseZone('local'))
  for (const zone of ['local', 'UTC'] as const) {
    chooseZone(zone)
    assert.equal(toInstant(toInputValue(AT, { hasSeconds: true })), AT)
    assert.equal(toInstant(''), '')
    assert.equal(toInputValue('not a time'), '')
  }
  assert.equal(toInputValue(AT), '2026-11-15T23:30')
  assert.equal(toInstant('2026-11-15T23:30'), '2026-11-15T23:30:00.000Z')
  assert.equal(zoneName(), 'UTC')
})

test('today begins at midnight of the chosen zone', (t) => {
  t.after(() => chooseZone('local'))
  chooseZone('UTC')
  const now = new Date('2026-11-16T00:10:00.000Z')
  assert.equal(isToday(new Date(AT), now), false)
  assert.equal(isToday(new Date('2026-11-16T00:00:00.000Z'), now), true)
  assert.equal(toFieldTime(now.getTime()), '2026-11-16T00:10:00')
})
