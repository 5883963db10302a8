import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toDurationText } from './time-text.ts'

test('durations are said in their two largest units', () => {
  const said: [number, string][] = [
    [0, 'less than a second'],
    [499, 'less than a second'],
    [1_000, '1 s'],
    [160_000, '2 min 40 s'],
    [300_000, '5 min'],
    [3_600_000, '1 h'],
    [3_601_000, '1 h'],
    [5 * 3_600_000 + 59_999, '5 h 1 min'],
    [86_400_000, '1 day'],
    [7 * 86_400_000, '7 days'],
    [6 * 86_400_000 + 3 * 3_600_000 + 60_000, '6 days 3 h'],
  ]
  for (const [ms, text] of said) assert.equal(toDurationText(ms), text)
})
