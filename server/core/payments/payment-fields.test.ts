import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { SAMPLE, sampleBody, sampleWrite } from '../../../test/support/payment-sample.ts'
import { type FieldError, ServiceError } from '../plain/errors.ts'
import { parseJson } from '../plain/exact-json.ts'
import { parsePayment, parsePaymentLine, parsePaymentOf, readPaymentId } from './payment-fields.ts'

/** `pointer code` of every wrong field of the sample with these changes; [] when it conforms. */
function faults(changes: Record<string, unknown>, pathId?: string): string[] {
  const { value, amountText } = parseJson(sampleBody(changes))
  return faultsOf(() => parsePayment(value, amountText, pathId))
}

function faultsOf(parse: () => unknown): string[] {
  try {
    parse()
    return []
  } catch (error) {
    assert.ok(error instanceof ServiceError && error.code === 'invalid-fields', String(error))
    const errors = error.errors as FieldError[]
    assert.ok(errors.length > 0 && errors.every((it) => /[.?]$/.test(it.detail)))
    return errors.map((it) => `${it.pointer} ${it.code}`)
  }
}

test('a payment that conforms comes out with every field', () => {
  const { document, ...rest } = sampleWrite({ version: 17 })
  assert.ok(document)
  const { base64, hash, sizeBytes } = document.file
  assert.equal(Buffer.from(base64).toString(), 'JVBERi0=')
  assert.deepEqual([hash.length, sizeBytes], [32, 5])
  const { document: given, ...others } = SAMPLE
  assert.deepEqual([document.mediaType, document.name], [given.mediaType, given.name])
  const amount = { amount: '12345.67', currency: 'EUR' }
  assert.deepEqual(rest, { ...others, amount, completedAt: null })
})

test('spaces and the order of members mean nothing, and of members with one name the last wins', () => {
  const body = { ...SAMPLE, status: { state: 'DUE' } }
  const text = JSON.stringify(body)
  const read = (written: string) => {
    const { value, amountText } = parseJson(Buffer.from(written))
    return parsePayment(value, amountText)
  }
  const others = [
    `\t${text}\r\n`,
    JSON.stringify(body, null, 2),
    JSON.stringify(Object.fromEntries(Object.entries(body).reverse())),
    text.replace('"reference":', '"reference":"first","reference":'),
    text.replace('"amount":{', '"amount":{"amount":1,"currency":"USD"},"amount":{'),
    text.replace('"amount":12345.67', '"amount":1,"amount":12345.67'),
    text.replace('"status":{', '"status":{"state":"PAID","reason":"x"},"status":{'),
  ]
  for (const other of others) assert.deepEqual(read(other), read(text), other)
})

const REQUIRED = [
  'externalId',
  'quoteId',
  'amount',
  'reference',
  'purposeOfPayment',
  'beneficiaryId',
]
const OPTIONAL = ['status', 'complete', 'createdAt', 'completedAt', 'documentReference', 'document']
OPTIONAL.push('version')

test('a required field that is left out or null is missing; an optional one is just not there', () => {
  for (const name of [...REQUIRED, 'id']) {
    for (const nothing of [undefined, null]) {
      assert.deepEqual(faults({ [name]: nothing }), [`/${name} missing`])
    }
  }
  for (const name of OPTIONAL) {
    for (const nothing of [undefined, null]) assert.deepEqual(faults({ [name]: nothing }), [])
  }
  assert.deepEqual(
    sampleWrite({ status: null, document: null }),
    sampleWrite({ status: undefined, document: undefined }),
  )
})

test('every field of the wrong type says so under its own pointer', () => {
  for (const name of [...REQUIRED, ...OPTIONAL, 'id']) {
    assert.deepEqual(faults({ [name]: [] }), [`/${name} wrong-type`])
  }
  const nested = [
    [
      { status: { state: 1, reason: 2 } },
      ['/status/state wrong-type', '/status/reason wrong-type'],
    ],
    [
      { amount: { amount: '1', currency: 2 } },
      ['/amount/amount wrong-type', '/amount/currency wrong-type'],
    ],
    [
      { status: {}, amount: {} },
      ['/status/state missing', '/amount/amount missing', '/amount/currency missing'],
    ],
    [
      { document: {} },
      [
        '/document/mediaType missing',
        '/document/name missing',
        '/document/base64EncodedFile missing',
      ],
    ],
  ] as const
  for (const [changes, expected] of nested) assert.deepEqual(faults(changes), expected)
})

test('P2, P3, P4, P5, P8: what does not conform, field by field', () => {
  const document = SAMPLE.document
  const cases: [Record<string, unknown>, string][] = [
    [{ status: { state: 'REFUSED' } }, '/status/state not-in-list'],
    [{ status: { state: 'DUE', reason: '\0' } }, '/status/reason invalid-text'],
    [{ purposeOfPayment: 'other' }, '/purposeOfPayment not-in-list'],
    [{ quoteId: 'q' }, '/quoteId not-a-uuid'],
    [{ beneficiaryId: '' }, '/beneficiaryId not-a-uuid'],
    [{ createdAt: 'yesterday' }, '/createdAt not-a-date-time'],
    [{ completedAt: '2026-02-30T00:00:00Z' }, '/completedAt not-a-date-time'],
    [{ externalId: '' }, '/externalId empty'],
    [{ externalId: 'x'.repeat(1025) }, '/externalId too-long'],
    [{ reference: '\ud800' }, '/reference invalid-text'],
    [{ documentReference: 'a\0b' }, '/documentReference invalid-text'],
    [{ amount: { amount: -1, currency: 'EUR' } }, '/amount/amount negative-amount'],
    [{ amount: { amount: 1e31, currency: 'EUR' } }, '/amount/amount invalid-amount'],
    [{ amount: { amount: 1, currency: 'usd' } }, '/amount/currency not-a-currency'],
    [{ document: { ...document, name: 'n'.repeat(10_000) } }, '/document/name too-long'],
    [{ document: { ...document, mediaType: 'a\r\nb' } }, '/document/mediaType not-a-media-type'],
    [
      { document: { ...document, base64EncodedFile: 'TR==' } },
      '/document/base64EncodedFile not-base64',
    ],
    [{ document: { ...document, base64EncodedFile: '' } }, '/document/base64EncodedFile empty'],
    [{ version: 0.5 }, '/version out-of-range'],
  ]
  for (const [changes, expected] of cases) assert.deepEqual(faults(changes), [expected])
})

test('P8: a path or a line break in a name is data', () => {
  for (const name of ['../../etc/passwd', 'a\r\nb', 'C:\\x', '😀.pdf']) {
    assert.equal(sampleWrite({ document: { ...SAMPLE.document, name } }).document?.name, name)
  }
})

test('all wrong fields are reported together, and none repeats what was sent', () => {
  const secret = 'hunter2-hunter2'
  const all = Object.fromEntries(
    ['quoteId', 'beneficiaryId', 'createdAt', 'purposeOfPayment'].map((it) => [it, secret]),
  )
  assert.equal(faults(all).length, 4)
  const { value, amountText } = parseJson(sampleBody(all))
  assert.throws(
    () => parsePayment(value, amountText),
    (error: ServiceError) => !JSON.stringify([error.message, error.errors]).includes(secret),
  )
})

test('the id may be left out where the path has it, and must be the same where it is given', () => {
  const other = SAMPLE.quoteId
  assert.deepEqual(faults({ id: undefined }, SAMPLE.id), [])
  assert.deepEqual(faults({ id: SAMPLE.id.toUpperCase() }, SAMPLE.id), [])
  assert.deepEqual(faults({}, SAMPLE.id.toUpperCase()), [])
  assert.deepEqual(faults({}, other), ['/id id-mismatch'])
  assert.deepEqual(faults({ id: 'x' }, SAMPLE.id), ['/id not-a-uuid'])
  const { value, amountText } = parseJson(sampleBody({ id: undefined }))
  assert.equal(parsePayment(value, amountText, SAMPLE.id.toUpperCase()).id, SAMPLE.id)
})

test('P5: unknown members are refused by name, and a misspelt one with what it stands for', () => {
  const hostile =
    '{"__proto__":{"externalId":"x","status":{"state":"PAID"}},"reference":"r","x":"\\u0000"}'
  const { value, amountText } = parseJson(Buffer.from(hostile))
  assert.ok(faultsOf(() => parsePayment(value, amountText)).includes('/externalId missing'))
  assert.deepEqual(faults({ surprise: { amount: 1 }, constructor: 1 }), [
    '/surprise unknown',
    '/constructor unknown',
  ])
  assert.deepEqual(faults({ Document: null, accountId: 'x' }), [
    '/Document misspelt',
    '/accountId unknown',
  ])
  assert.deepEqual(faults({ status: { state: 'DUE', reasons: 'x' } }), ['/status/reasons misspelt'])
  assert.deepEqual(faults({ amount: { ...SAMPLE.amount, value: 1 } }), ['/amount/value unknown'])
})

test('a line may name its account; a message of a broker may have more than is read', () => {
  const accountId = '019cade2-1350-7af3-913d-2f16aae956b4'
  const { value, amountText } = parseJson(sampleBody({ surprise: 1, docment: 2 }))
  assert.equal(parsePaymentOf(accountId, value, amountText).id, SAMPLE.id)
  const line = parseJson(sampleBody({ accountId, surprise: 1 }))
  assert.deepEqual(
    faultsOf(() => parsePaymentLine(line.value, line.amountText)),
    ['/surprise unknown'],
  )
})

test('a body that is no object has one fault, at the root', () => {
  for (const text of ['[]', '"x"', '1', 'true']) {
    const { value, amountText } = parseJson(Buffer.from(text))
    assert.deepEqual(
      faultsOf(() => parsePayment(value, amountText)),
      [' wrong-type'],
    )
  }
  assert.deepEqual(
    faultsOf(() => parsePayment(null, undefined)),
    [' missing'],
  )
})

test('P9: a line of a batch names its account, and its faults come with those of the payment', () => {
  const accountId = SAMPLE.quoteId
  const line = (changes: Record<string, unknown>) => {
    const { value, amountText } = parseJson(sampleBody(changes))
    return () => parsePaymentLine(value, amountText)
  }
  assert.equal(line({ accountId: accountId.toUpperCase() })().accountId, accountId)
  assert.equal(line({ accountId })().write.id, SAMPLE.id)
  assert.deepEqual(faultsOf(line({})), ['/accountId missing'])
  assert.deepEqual(faultsOf(line({ accountId: 'x', id: undefined })), [
    '/accountId not-a-uuid',
    '/id missing',
  ])
})

test('P9: the id of a wrong line is read where it can be', () => {
  assert.equal(readPaymentId({ id: SAMPLE.id.toUpperCase() }), SAMPLE.id)
  for (const value of [null, 1, 'x', [], {}, { id: 1 }, { id: 'x' }])
    assert.equal(readPaymentId(value), null)
})

test('law: any JSON value in any field is kept or refused as a field, never anything else', () => {
  const name = fc.constantFrom(...REQUIRED, ...OPTIONAL, 'id')
  const odd = fc.oneof(
    fc.jsonValue(),
    fc.string({ unit: 'binary' }),
    fc.double(),
    fc.dictionary(name, fc.jsonValue()),
  )
  fc.assert(
    fc.property(fc.dictionary(name, odd), (changes) => void faults(changes)),
    { numRuns: 1_000 },
  )
})
