// Arrays in binary form are what PostgreSQL reads as the values that were given, in every type and to its limits.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { cloneDatabase } from '../../../test/support/database.ts'
import {
  column,
  type ElementOf,
  type ElementType,
  textAt,
  textColumn,
  writtenInstants,
} from './columns.ts'

const { pool } = await cloneDatabase({ connectionsMax: 1 })

/** The elements as PostgreSQL writes them. */
async function readBack<T extends ElementType>(
  type: T,
  values: readonly (ElementOf<T> | null)[],
): Promise<readonly (string | null)[]> {
  const { rows } = await pool.query<{ element: string | null }>(
    `select g.element::text from unnest($1::${type}[]) with ordinality as g (element, number) order by number`,
    [column(type, values, (value) => value)],
  )
  return rows.map(({ element }) => element)
}

test('every type keeps its values, its limits and its nulls', async () => {
  await pool.query(`set time zone 'UTC'`)
  const cases: { [T in ElementType]: readonly [ElementOf<T>, string][] } = {
    boolean: [
      [true, 'true'],
      [false, 'false'],
    ],
    smallint: [
      [-32_768, '-32768'],
      [0, '0'],
      [32_767, '32767'],
    ],
    int: [
      [-2_147_483_648, '-2147483648'],
      [-1, '-1'],
      [2_147_483_647, '2147483647'],
    ],
    bigint: [
      [-9_223_372_036_854_775_808n, '-9223372036854775808'],
      ['9223372036854775807', '9223372036854775807'],
      [Number.MAX_SAFE_INTEGER, '9007199254740991'],
      [-4_294_967_297, '-4294967297'],
    ],
    float8: [
      [1_781_000_000_000.25, '1781000000000.25'],
      [Number.MIN_VALUE, '5e-324'],
      [Number.NEGATIVE_INFINITY, '-Infinity'],
      [Number.NaN, 'NaN'],
    ],
    uuid: [
      ['00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000'],
      ['01234567-89AB-CDEF-abcd-ef9876543210', '01234567-89ab-cdef-abcd-ef9876543210'],
      ['ffffffff-ffff-ffff-ffff-ffffffffffff', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
    ],
    timestamptz: [
      [Date.UTC(2026, 10, 17, 23, 19, 46, 7) + 0.9, '2026-11-17 23:19:46.007+00'],
      [Date.UTC(2000, 0), '2000-01-01 00:00:00+00'],
      [-1, '1969-12-31 23:59:59.999+00'],
      [8_640_000_000_000_000, '275760-09-13 00:00:00+00'],
      [Date.UTC(-4712, 0), '4713-01-01 00:00:00+00 BC'],
    ],
    text: [
      ['', ''],
      ['NULL', 'NULL'],
      ['{"a", \\ \u{1F600}}', '{"a", \\ \u{1F600}}'],
    ],
    bytea: [
      [Buffer.alloc(0), '\\x'],
      [Uint8Array.of(0, 92, 255), '\\x005cff'],
    ],
  }
  for (const type of Object.keys(cases) as ElementType[]) {
    const pairs = cases[type] as readonly [ElementOf<typeof type>, string][]
    const given = pairs.map(([value]) => value)
    const written = pairs.map(([, text]) => text)
    assert.deepEqual(await readBack(type, given), written, type)
    assert.deepEqual(await readBack(type, [null, ...given, null]), [null, ...written, null], type)
    assert.deepEqual(await readBack(type, [null]), [null], type)
    assert.deepEqual(await readBack(type, []), [], type)
  }
})

test('any uuid, number and text comes back as it was', async () => {
  const row = fc.record({
    id: fc.uuid(),
    number: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
    big: fc.maxSafeInteger(),
    // PostgreSQL has no text with a zero in it.
    text: fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\0', '')),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(row), async (rows) => {
      assert.deepEqual(
        await readBack(
          'uuid',
          rows.map(({ id }) => id),
        ),
        rows.map(({ id }) => id),
      )
      for (const key of ['number', 'big'] as const) {
        const values = rows.map((one) => one[key])
        assert.deepEqual(
          await readBack(key === 'big' ? 'bigint' : 'int', values),
          values.map(String),
        )
      }
      const texts = textColumn(rows, ({ text }) => text)
      const { rows: cut } = await pool.query<{ text: string }>(
        `select ${textAt('$1')} as text from unnest($2::int[], $3::int[]) as g (start, length)`,
        [texts.bytes, texts.starts, texts.lengths],
      )
      assert.deepEqual(
        cut.map(({ text }) => text),
        rows.map(({ text }) => text),
      )
    }),
    { numRuns: 30 },
  )
})

test('what is no uuid is refused before it is sent', () => {
  const uuid = '01234567-89ab-cdef-abcd-ef9876543210'
  const faults = [
    '',
    uuid.slice(1),
    `${uuid}0`,
    `${uuid}\n`,
    `{${uuid.slice(1, -1)}}`,
    uuid.replaceAll('-', ''),
    uuid.replace('-', '0'),
    uuid.replace('a', 'g'),
    // A letter whose code ends like that of a digit.
    uuid.replace('0', '\u0130'),
  ]
  for (const text of faults) {
    assert.throws(() => column('uuid', [uuid, text], (id) => id), /given as a uuid is none/, text)
  }
})

test('what its type cannot hold is refused before it is sent', () => {
  const faults: [ElementType, readonly unknown[]][] = [
    ['smallint', [32_768, -32_769, 0.5, Number.NaN, undefined, '1']],
    ['int', [2_147_483_648, -2_147_483_649, 1.5, Number.POSITIVE_INFINITY, undefined, '1']],
    ['bigint', [2n ** 63n, 0.5, Number.NaN, undefined, 'one']],
    ['timestamptz', [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, undefined]],
    ['uuid', [undefined]],
    ['text', [undefined]],
  ]
  for (const [type, values] of faults) {
    for (const value of values) {
      assert.throws(
        () => column(type, [value], (given) => given as never),
        { name: /^(Range|Type|Syntax)Error$/ },
        `${type} ${value}`,
      )
    }
  }
})

test('an array of another type than the statement declares is an error that names both', async () => {
  const given = column('int', [1, 2], (value) => value)
  for (const declared of ['smallint', 'bigint', 'uuid', 'text']) {
    await assert.rejects(pool.query(`select $1::${declared}[]`, [given]), (error) => {
      const { code, message } = error as Error & { code: string }
      assert.equal(code, '42804')
      assert.match(message, /\(integer\) instead of expected \d+ \(\w+\)/)
      return true
    })
  }
})

test('an instant that PostgreSQL has written keeps its microseconds, and may be infinite', async () => {
  const texts = ['2026-11-17 23:19:46.123456+00', null, 'infinity', '-infinity']
  const { rows } = await pool.query<{ at: string | null }>(
    `select at::text from unnest($1::timestamptz[]) as at`,
    [writtenInstants(texts, (text) => text)],
  )
  assert.deepEqual(
    rows.map(({ at }) => at),
    texts,
  )
})
