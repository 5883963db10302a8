import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ServiceError } from './errors.ts'
import { NESTING_LEVELS_MAX, parseJson, VALUES_MAX } from './exact-json.ts'

const parse = (text: string) => parseJson(Buffer.from(text))
const isMalformed = (error: unknown) =>
  error instanceof ServiceError && error.code === 'malformed-json' && error.cause === undefined

/** The same answer by the slow way: the reviver's context.source, 3 times the cost on a payment. */
function parseWithReviver(text: string) {
  const sources = new WeakMap<object, string>()
  function keep(this: object, key: string, value: unknown, context?: { source?: string }) {
    if (key === 'amount' && typeof value === 'number') sources.set(this, String(context?.source))
    return value
  }
  const value = JSON.parse(text, keep)
  const amount = isMembers(value) && Object.hasOwn(value, 'amount') ? value.amount : undefined
  return { value, amountText: isMembers(amount) ? sources.get(amount) : undefined }
}

const isMembers = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

test('P3: the digits of amount.amount come out as written', () => {
  for (const written of [
    '9007199254740993.25',
    '100.00',
    '1e2',
    '0.1',
    '1E+2',
    '0',
    '-0',
    '1e400',
  ]) {
    const text = `{"id":"x","amount":{"currency":"EUR","amount":${written}},"z":[1]}`
    assert.equal(parse(text).amountText, written)
  }
})

const AMOUNT_CASES: [string, string | undefined][] = [
  ['{ "amount" :\t{\n"amount"\r: 1.0 } }', '1.0'],
  // Of members with the same name the last one wins, wherever the earlier one stood.
  ['{"amount":{"amount":1.0,"amount":2.0}}', '2.0'],
  ['{"amount":{"amount":1.0},"amount":{"amount":2.0}}', '2.0'],
  ['{"amount":{"amount":1.0},"amount":{"currency":"EUR"}}', undefined],
  ['{"amount":{"amount":1.0},"amount":3.0}', undefined],
  ['{"amount":{"amount":1.0},"amount":[3.0]}', undefined],
  ['{"amount":{"amount":1.0,"amount":"2.0"}}', undefined],
  // Escapes in names: \u0061 is a, \u0075 is u.
  ['{"\\u0061mount":{"amo\\u0075nt":1.0}}', '1.0'],
  ['{"amount":{"amount":1.0,"\\u0061mount":2.0}}', '2.0'],
  ['{"\\u0061\\u006d\\u006f\\u0075\\u006e\\u0074":{"amount":1.0}}', '1.0'],
  ['{"\\u0061":{"amount":1.0}}', undefined],
  ['{"\\\\amount":{"amount":1.0}}', undefined],
  // Look-alikes elsewhere.
  ['{"amount":{"amount":{"amount":1.0}}}', undefined],
  ['{"amount":{"amount":[1.0]}}', undefined],
  ['{"amount":[{"amount":1.0}]}', undefined],
  ['[{"amount":{"amount":1.0}}]', undefined],
  ['{"a":{"amount":{"amount":1.0}}}', undefined],
  ['{"a":"\\"amount\\":{\\"amount\\":9}","amount":{"amount":1.0}}', '1.0'],
  ['{"a":"ends in a backslash \\\\","amount":{"amount":1.0}}', '1.0'],
  ['{"Amount":{"amount":1.0}}', undefined],
  ['{"__proto__":{"amount":{"amount":1.0}}}', undefined],
  ['{"__proto__":{"amount":5},"amount":{"__proto__":1,"amount":1.0}}', '1.0'],
  ['"amount"', undefined],
  ['1.0', undefined],
]

test('amount.amount is found where JSON.parse finds it, and nowhere else', () => {
  for (const [text, expected] of AMOUNT_CASES) {
    assert.equal(parse(text).amountText, expected, text)
    assert.deepEqual(parse(text), parseWithReviver(text), text)
  }
})

test('P5: __proto__ is a name like any other, and nothing is polluted', () => {
  const { value } = parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"x":1}}}')
  assert.equal((value as { polluted?: unknown }).polluted, undefined)
  assert.equal(({} as { polluted?: unknown }).polluted, undefined)
  assert.ok(Object.hasOwn(value as object, '__proto__'))
})

test('P5, P6: what is no JSON, no UTF-8 or begins with a BOM is malformed', () => {
  const texts = [
    '',
    ' ',
    '{',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1,}',
    '[1,]',
    "{'a':1}",
    '{a:1}',
    'NaN',
  ]
  texts.push(
    '"',
    '"\\',
    '"\\x"',
    '{"\\x61mount":1}',
    '01',
    '1.',
    '.5',
    '+1',
    '1e',
    '-',
    '"\n"',
    '1 2',
  )
  texts.push('{"amount":{"amount":1-1}}', '{"amount":{"amount":00}}', ']', '}}', ':::', '\ufeff{}')
  for (const text of texts) assert.throws(() => parse(text), isMalformed, JSON.stringify(text))
  for (const bytes of [
    [0x22, 0xff, 0x22],
    [0x22, 0xed, 0xa0, 0x80, 0x22],
    [0x22, 0xc0, 0x80, 0x22],
  ]) {
    assert.throws(() => parseJson(Uint8Array.from(bytes)), isMalformed)
  }
  assert.throws(() => parseJson(Buffer.from('{"a":1}', 'utf16le')), isMalformed)
})

test('a refusal does not repeat the body', () => {
  assert.throws(
    () => parse('{"sharedKey":"hunter2" oops}'),
    (error: Error) => !error.message.includes('hunter2') && isMalformed(error),
  )
})

test('P5: depth and number of values are limited, before JSON.parse pays for them', () => {
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
  const counted = (values: number) => `[${'0,'.repeat(values - 2)}0]`
  assert.doesNotThrow(() => parse(nested(NESTING_LEVELS_MAX)))
  assert.throws(() => parse(nested(NESTING_LEVELS_MAX + 1)), isMalformed)
  assert.doesNotThrow(() => parse(counted(VALUES_MAX)))
  assert.throws(() => parse(counted(VALUES_MAX + 1)), isMalformed)

  const members = Array.from({ length: 1e6 }, (_, at) => `"k${at}":0`).join(',')
  for (const text of [
    nested(100_000),
    '['.repeat(100_000),
    '{"a":'.repeat(100_000),
    `{${members}}`,
  ]) {
    assert.throws(() => parse(text), isMalformed)
  }
})

test('P5: no text holds the loop for a second', () => {
  const million = 1e6
  const texts = ['"', '\\"', '"\\\\', ' ', ':', '1', '{"amount":', '"amount":'].map((part) =>
    part.repeat(million),
  )
  texts.push(`{"amount":{"amount":${'1'.repeat(million)}}}`, `"${'\\"'.repeat(million)}"`)
  for (const text of texts) {
    const started = process.threadCpuUsage()
    try {
      parse(text)
    } catch (error) {
      assert.ok(isMalformed(error))
    }
    // What it computes, not how long others keep it from computing.
    const { user, system } = process.threadCpuUsage(started)
    assert.ok(user + system < 1e6, text.slice(0, 20))
  }
})

// Names from a short list, so that duplicates, nesting and look-alikes are frequent.
const name = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('"amount"', '"\\u0061mount"', '"amoun\\u0074"') },
  { weight: 2, arbitrary: fc.constantFrom('"__proto__"', '"Amount"', '"\\\\"', '"\\""', '""') },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)) },
)
const number = fc.constantFrom('1', '-0', '100.00', '1e2', '9007199254740993.25', '0.10', '1E-7')
const space = fc.constantFrom('', '', ' ', '\n\t')
const members = (value: fc.Arbitrary<string>) =>
  fc
    .array(fc.tuple(space, name, value), { maxLength: 4 })
    .map((all) => `{${all.map(([s, key, it]) => `${s}${key}${s}:${s}${it}`).join(',')}}`)
const { any } = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    number,
    fc.constantFrom('null', 'true', 'false'),
    name,
    fc.tuple(space, fc.array(tie('any'), { maxLength: 3 })).map(([s, all]) => `[${s}${all}${s}]`),
    members(tie('any')),
  ),
}))
/** A fixed seed: V8's own JSON.parse was seen twice (145155561, -204900631; not repeatable alone) to lose a
 *  member whose name is an escaped quote, depending on the objects that it had made before. */
const SEED = 20_261_115

// Three in ten of these have an amount; without the first two shapes it would be one in a hundred.
const document = fc.oneof(members(members(fc.oneof(number, any))), members(members(number)), any)

test('law: the value is the one of JSON.parse and the digits are those of the reviver', () => {
  fc.assert(
    fc.property(document, (text) => {
      assert.deepEqual(parse(text), parseWithReviver(text))
    }),
    { numRuns: 2_000, seed: SEED },
  )
})

test('law: a text with one character broken is refused exactly when JSON.parse refuses it', () => {
  const broken = fc.tuple(
    document,
    fc.nat(),
    fc.constantFrom('"', '\\', '{', ']', ',', ':', '1', 'é', ''),
  )
  fc.assert(
    fc.property(broken, ([text, position, character]) => {
      const at = position % (text.length + 1)
      const changed = text.slice(0, at) + character + text.slice(at + 1)
      let expected: unknown
      try {
        // The bytes cannot hold a lone surrogate; they hold what it becomes.
        expected = parseWithReviver(changed.toWellFormed())
      } catch {
        return assert.throws(() => parse(changed), isMalformed)
      }
      assert.deepEqual(parse(changed), expected)
    }),
    { numRuns: 2_000, seed: SEED },
  )
})
