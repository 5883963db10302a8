import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { addDigests, digestOfByteSums, digestOfIds, NO_IDS } from './ids-digest.ts'

const ids = fc.uniqueArray(fc.uuid(), { maxLength: 40 })

test('the digest of one id is its SHA-256, and that of none is 64 noughts', () => {
  const id = '019cade2-1350-7000-8a0b-1c2d3e4f5a6b'
  assert.equal(digestOfIds([id]), createHash('sha256').update(id).digest('hex'))
  assert.equal(digestOfIds([]), NO_IDS)
  assert.equal(addDigests([]), NO_IDS)
})

test('the order of the ids does not matter', () => {
  fc.assert(
    fc.property(ids, fc.infiniteStream(fc.nat()), (some, dice) => {
      const keyed = some.map((id) => ({ id, key: dice.next().value as number }))
      const shuffled = keyed.toSorted((one, other) => one.key - other.key).map(({ id }) => id)
      assert.equal(digestOfIds(shuffled), digestOfIds(some))
    }),
  )
})

test('digests of parts add up to that of the whole, however it is cut', () => {
  fc.assert(
    fc.property(ids, fc.nat(), (some, cut) => {
      const at = some.length === 0 ? 0 : cut % (some.length + 1)
      const parts = [digestOfIds(some.slice(0, at)), digestOfIds(some.slice(at))]
      assert.equal(addDigests(parts), digestOfIds(some))
      assert.match(addDigests(parts), /^[0-9a-f]{64}$/)
    }),
  )
})

test('an id that is missing, doubled or forged changes it', () => {
  fc.assert(
    fc.property(ids, fc.uuid(), fc.nat(), (some, other, at) => {
      fc.pre(some.length > 0 && !some.includes(other))
      const index = at % some.length
      const whole = digestOfIds(some)
      assert.notEqual(digestOfIds(some.toSpliced(index, 1)), whole)
      assert.notEqual(digestOfIds([...some, some[index] as string]), whole)
      assert.notEqual(digestOfIds(some.toSpliced(index, 1, other)), whole)
    }),
  )
})

test('sums of bytes, which a database makes, give the same digest', () => {
  fc.assert(
    fc.property(ids, (some) => {
      const sums = new Array<number>(32).fill(0)
      for (const id of some) {
        const hash = createHash('sha256').update(id).digest()
        hash.forEach((byte, at) => {
          sums[at] = (sums[at] as number) + byte
        })
      }
      assert.equal(digestOfByteSums(sums), digestOfIds(some))
    }),
  )
  assert.throws(() => digestOfByteSums([1, 2, 3]), /3 sums/)
})

test('it wraps at 2^256', () => {
  const highest = 'f'.repeat(64)
  assert.equal(addDigests([highest, `${'0'.repeat(63)}1`]), NO_IDS)
  assert.equal(addDigests([highest, highest]), `${'f'.repeat(63)}e`)
})
