import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { isUuid, NIL_UUID, UuidMaker, uuidFloor, uuidTimeMs } from './uuid.ts'

const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

test('ids are UUIDv7 of the given moment', () => {
  const nowMs = Date.parse('2026-03-02T09:30:00.123Z')
  const id = new UuidMaker(() => nowMs, randomBytes).next()
  assert.match(id, V7)
  assert.ok(isUuid(id))
  assert.equal(uuidTimeMs(id), nowMs)
})

test('ids rise, also within a millisecond, beyond 4,096 of it, and when the clock steps back', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -50, max: 50 }), { maxLength: 200 }), (steps) => {
      let nowMs = 1_772_443_800_000
      const maker = new UuidMaker(() => nowMs, randomBytes)
      let last = ''
      for (const step of steps) {
        nowMs += step
        for (let n = 0; n < 3; n++) {
          const id = maker.next()
          assert.ok(id > last, `${id} after ${last}`)
          last = id
        }
      }
    }),
  )
  const maker = new UuidMaker(() => 1_772_443_800_000.75, randomBytes)
  const made = Array.from({ length: 20_000 }, () => maker.next())
  assert.deepEqual(made, [...new Set(made)].sort())
  for (const id of [made[0], made[4_096], made.at(-1)]) assert.match(String(id), V7)
})

test('two makers of one moment do not meet', () => {
  const makers = [new UuidMaker(() => 1e12, randomBytes), new UuidMaker(() => 1e12, randomBytes)]
  const made = makers.flatMap((maker) => Array.from({ length: 1_000 }, () => maker.next()))
  assert.equal(new Set(made).size, 2_000)
})

test('the floor of a moment is below every id of it and above every earlier one', () => {
  const nowMs = 1_772_443_800_000
  const at = (ms: number) => new UuidMaker(() => ms, randomBytes).next()
  assert.ok(uuidFloor(nowMs) < at(nowMs))
  assert.ok(uuidFloor(nowMs) > at(nowMs - 1))
  assert.ok(isUuid(uuidFloor(nowMs)))
})

test('regression: the floor of any instant is a uuid, also before the first id and after the last', () => {
  const last = 'ffffffff-ffff-0000-0000-000000000000'
  for (const [ms, floor] of [
    [-1, NIL_UUID],
    [Date.parse('0000-01-01T00:00:00+23:59'), NIL_UUID],
    [-8.64e15, NIL_UUID],
    [0, NIL_UUID],
    [2 ** 48 - 1, last],
    [2 ** 48, last],
    [8.64e15, last],
  ] as const) {
    assert.equal(uuidFloor(ms), floor)
  }
  assert.ok(isUuid(uuidFloor(Date.parse('9999-12-31T23:59:59-23:59'))))
})

test('what is a uuid, and what is not', () => {
  for (const text of [NIL_UUID, '5D0C63C4-9a6e-4a0e-8f0c-0d7c4d6b1a01']) assert.ok(isUuid(text))
  const odd = [
    '',
    'x',
    `${NIL_UUID}\n`,
    ` ${NIL_UUID}`,
    `{${NIL_UUID}}`,
    NIL_UUID.replaceAll('-', ''),
  ]
  for (const text of [...odd, `urn:uuid:${NIL_UUID}`, `g${NIL_UUID.slice(1)}`]) {
    assert.ok(!isUuid(text), text)
  }
})
