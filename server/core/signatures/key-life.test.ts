import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endOfKey } from './key-life.ts'

const DAY_MS = 86_400_000
const at = (day: number) => new Date(day * DAY_MS)
/** Made on a day, in a cell. */
const key = (day: number, verifiesUntil: Date | null, cell = '000') => ({
  kid: `${String(day).padStart(8, '0')}-0000-7000-8${cell}-000000000000`,
  createdAt: at(day),
  verifiesUntil,
})

const CASES = [
  { name: 'the newest has no end', of: key(9, null), others: [key(1, null)], end: null },
  { name: 'its row ends it', of: key(1, at(3)), others: [key(2, null)], end: at(3) },
  {
    name: 'a newer one ends it, whatever its row says',
    of: key(1, null),
    others: [key(2, null)],
    end: at(9),
  },
  {
    name: 'of several newer ones, the next',
    of: key(1, at(99)),
    others: [key(5, null), key(2, at(3))],
    end: at(9),
  },
  {
    name: 'no key of another cell ends it',
    of: key(1, null),
    others: [key(2, null, '007')],
    end: null,
  },
  {
    name: 'one of the same moment with a higher id is newer',
    of: { ...key(1, null) },
    others: [{ ...key(2, null), createdAt: at(1) }],
    end: at(8),
  },
] as const

for (const { name, of, others, end } of CASES) {
  test(name, () => {
    assert.deepEqual(endOfKey(of, [of, ...others], 7 * DAY_MS), end)
  })
}
