import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  boolean,
  type Check,
  currency,
  dateTime,
  decimal,
  Fault,
  file,
  mediaType,
  members,
  oneOf,
  sameUuid,
  text,
  uuid,
  version,
} from './payment-checks.ts'

/** Each row: what is given, and what is kept or the code of the fault. */
function table<T>(check: Check<T>, kept: [unknown, unknown][], refused: Record<string, unknown[]>) {
  for (const [given, expected] of kept) assert.deepEqual(check(given), expected)
  for (const [code, values] of Object.entries(refused)) {
    for (const value of values) {
      const fault = check(value)
      assert.ok(fault instanceof Fault, `${String(value).slice(0, 60)} was kept`)
      assert.equal(fault.code, code, String(value).slice(0, 60))
    }
  }
}
const asGiven = (...values: unknown[]) => values.map((value): [unknown, unknown] => [value, value])

const ID = '5d0c63c4-9a6e-4a0e-8f0c-0d7c4d6b1a01'

test('a uuid comes in any case and version, and is kept in lower case', () => {
  const nil = '00000000-0000-0000-0000-000000000000'
  table(uuid, [...asGiven(ID, nil), [ID.toUpperCase(), ID]], {
    'wrong-type': [1, {}, [ID], true],
    'not-a-uuid': [
      '',
      ID.replaceAll('-', ''),
      `{${ID}}`,
      `urn:uuid:${ID}`,
      `${ID}\n`,
      ` ${ID}`,
      `${ID}0`,
    ],
  })
  table(sameUuid(ID), [[ID.toUpperCase(), ID]], {
    'id-mismatch': [nil],
    'not-a-uuid': ['x'],
    'wrong-type': [7],
  })
})

test('an instant is an RFC 3339 date-time with its zone, and is kept as written', () => {
  const good = [
    '2026-01-31T09:30:00Z',
    '2026-01-31T09:30:00.123456789+05:30',
    '2024-02-29T23:59:59-00:00',
  ]
  good.push('2000-02-29T00:00:00Z', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59.9Z')
  table(dateTime, [...asGiven(...good), ['2026-01-31t09:30:00z', '2026-01-31T09:30:00Z']], {
    'wrong-type': [0, 1769851800000, {}],
    'not-a-date-time': [
      ...['', '2026-01-31', '2026-01-31T09:30:00', '2026-01-31 09:30:00Z', '2026-01-31T09:30Z'],
      ...[
        '2026-02-29T00:00:00Z',
        '1900-02-29T00:00:00Z',
        '2026-04-31T00:00:00Z',
        '2026-13-01T00:00:00Z',
      ],
      ...[
        '2026-00-01T00:00:00Z',
        '2026-01-00T00:00:00Z',
        '2026-01-32T00:00:00Z',
        '2026-01-31T24:00:00Z',
      ],
      ...[
        '2026-01-31T09:60:00Z',
        '2016-12-31T23:59:60Z',
        '2026-01-31T09:30:00+24:00',
        '2026-01-31T09:30:00+0200',
      ],
      ...[
        '2026-01-31T09:30:00.Z',
        '2026-01-31T09:30:00.1234567890Z',
        '2026-01-31T09:30:00Z\n',
        '+002026-01-31T09:30:00Z',
      ],
      ...['٢٠٢٦-01-31T09:30:00Z', 'now', `2026-01-31T09:30:00.${'0'.repeat(1e6)}Z`],
    ],
  })
})

test('law: every instant that Date can write is kept, and every instant kept can be read by Date', () => {
  const date = fc.date({
    min: new Date('0000-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59Z'),
    noInvalidDate: true,
  })
  fc.assert(
    fc.property(date, (date) => assert.equal(dateTime(date.toISOString()), date.toISOString())),
  )
  const digits = (max: number) => fc.nat(max).map((n) => String(n).padStart(2, '0'))
  const nearly = fc.tuple(
    fc.constantFrom('2023', '2024', '1900'),
    digits(13),
    digits(32),
    digits(24),
    digits(60),
  )
  fc.assert(
    fc.property(nearly, ([year, month, day, hour, minute]) => {
      const written = `${year}-${month}-${day}T${hour}:${minute}:00Z`
      const ms = Date.parse(written)
      // Date rolls 31 April over into May and reads 24:00; reading back tells.
      const isReal =
        !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(written.slice(0, 16))
      assert.equal(typeof dateTime(written) === 'string', isReal, written)
    }),
    { numRuns: 2_000 },
  )
})

test('P5: a text is well-formed Unicode without NUL, and no longer than its limit in characters', () => {
  table(text(1, 4), asGiven('a', 'äöüß', '😀😀😀😀', '\r\n', '../a'.slice(0, 4)), {
    'wrong-type': [1, ['a'], {}],
    empty: [''],
    'too-long': ['aaaaa', '😀😀😀😀😀', 'a'.repeat(1e6)],
    'invalid-text': ['a\0', '\ud83d', '\ude00\ud83d', 'a\udfff'],
  })
  table(text(0, 4), asGiven(''), {})
})

test('P3: an amount is judged and kept as it was written', () => {
  const long = '9'.repeat(40)
  const good = [
    '0',
    '100.00',
    '1e2',
    '1E-30',
    '1e+30',
    '9007199254740993.25',
    '0.000',
    long,
    '1e000030',
  ]
  for (const written of good) assert.equal(decimal(written)(Number(written)), written)
  const refused = {
    'negative-amount': ['-1', '-0', '-0.0', '-1e99'],
    'amount-too-long': [`${long}9`],
  }
  const outOfRange = ['1e31', '1e-31', '1e400', '0e31', '1e99999999999999999999']
  for (const [code, all] of Object.entries({ ...refused, 'invalid-amount': outOfRange })) {
    for (const written of all) table(decimal(written), [], { [code]: [Number(written)] })
  }
  table(decimal(undefined), [], { 'wrong-type': ['1', true, {}, []] })
  assert.throws(() => decimal(undefined)(1), /without the text/)
})

test('P4: a currency is three capital letters', () => {
  table(currency, asGiven('EUR'), {
    'not-a-currency': ['usd', 'US', 'USDD', 'ＵＳＤ', ''],
    'wrong-type': [978],
  })
})

test('a version is an integer from 0 to the largest that is exact', () => {
  table(version, [...asGiven(0, 7, Number.MAX_SAFE_INTEGER), [-0, 0]], {
    'wrong-type': ['7', true, []],
    'out-of-range': [-(2 ** 53), 1.5, 2 ** 53, Number.POSITIVE_INFINITY],
  })
})

test('P8: a media type has the form of one, so that it can never break a header', () => {
  const good = [
    'application/pdf',
    'image/jpeg',
    'text/html',
    'image/svg+xml',
    'text/plain; charset=utf-8',
  ]
  table(
    mediaType,
    asGiven(...good, 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'),
    {
      'wrong-type': [1],
      empty: [''],
      'not-a-media-type': [
        'pdf',
        '/pdf',
        'a/',
        'a/b/c',
        'a b/c',
        'a/b\r\nX: y',
        'a/b;\r\n',
        'a/bé',
        '*/*',
      ],
      'too-long': [`a/${'b'.repeat(1e6)}`],
    },
  )
})

test('lists, flags, objects and files', () => {
  table(oneOf(['A', 'B']), asGiven('A', 'B'), {
    'not-in-list': ['a', 'C', '', '__proto__', 'constructor'],
    'wrong-type': [1, ['A']],
  })
  table(boolean, asGiven(true, false), { 'wrong-type': ['true', 0] })
  table(members, [[{ a: 1 }, { a: 1 }]], { 'wrong-type': [[], 'a', 1, true] })
  table(file, [], {
    empty: [''],
    'not-base64': ['*'],
    'file-too-large': ['A'.repeat(14_000_000)],
    'wrong-type': [{}],
  })
})
