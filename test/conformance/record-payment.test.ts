// paybell.record_payment decides as the service does: the same writes through both, each on a
// database of its own, give the same texts, kinds, sequences, versions and refusals, byte for byte.

import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { before, test } from 'node:test'
import fc from 'fast-check'
import type { Pool } from 'pg'
import {
  EVENT_KINDS,
  FILE_BASE64_CHARACTERS_MAX,
  FILE_BYTES_MAX,
  PAYMENT_STATES,
  PURPOSES,
} from '../../server/core/payments/payment.ts'
import { parsePayment } from '../../server/core/payments/payment-fields.ts'
import { ServiceError } from '../../server/core/plain/errors.ts'
import { parseJson } from '../../server/core/plain/exact-json.ts'
import { UuidMaker } from '../../server/core/plain/uuid.ts'
import { recordingOn } from '../../server/operations/accepting/postgres-payment-store.ts'
import {
  type RecordingDeps,
  recordPayments,
} from '../../server/operations/accepting/record-payments.ts'
import { AccountDirectory } from '../../server/operations/access/account-directory.ts'
import { cloneDatabase } from '../support/database.ts'
import { SAMPLE } from '../support/payment-sample.ts'
import { storeClient } from '../support/stored-deliveries.ts'

interface Side {
  pool: Pool
  accountId: string
  write(text: string): Promise<unknown>
}

let service: Side
let sql: Side

before(async () => {
  const [one, other] = await Promise.all([cloneDatabase(), cloneDatabase()])
  const ids = new UuidMaker(Date.now, randomBytes)
  const clock = { nowMs: Date.now, monotonicMs: () => performance.now() }
  const accounts = new AccountDirectory(one.pool)
  const recording = recordingOn({ pool: one.pool, clock, newId: () => ids.next() }, accounts)
  const { accountId } = await storeClient(one.pool)
  service = {
    pool: one.pool,
    accountId,
    write: (text) => writeByService(recording, accountId, text),
  }
  const second = await storeClient(other.pool)
  sql = {
    pool: other.pool,
    accountId: second.accountId,
    write: (text) => writeBySql(other.pool, second.accountId, text),
  }
})

async function writeByService(
  recording: RecordingDeps,
  accountId: string,
  text: string,
): Promise<unknown> {
  try {
    const { value, amountText } = parseJson(Buffer.from(text))
    const write = parsePayment(value, amountText)
    const { results } = await recordPayments(recording, [{ accountId, write }])
    const [result] = results
    if (result instanceof ServiceError) throw result
    const { outcome, event } = result ?? assert.fail()
    return { outcome, event: event && { type: event.kind, sequence: event.sequence } }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const pointers = error.errors?.map(({ pointer, code }) => `${pointer} ${code}`).toSorted()
    return { refused: error.code, pointers }
  }
}

/** A pool gives up a connection whose statement has failed: each refusal would open another one, which has to
 *  compile the function again. */
async function writeBySql(pool: Pool, accountId: string, text: string): Promise<unknown> {
  const client = await pool.connect()
  try {
    const { rows } = await client.query<{ it: { outcome: string; event: unknown } }>(
      'select record_payment($1, $2) as it',
      [accountId, text],
    )
    const { outcome, event } = rows[0]?.it ?? assert.fail()
    return { outcome, event }
  } catch (error) {
    const { code, message, detail } = error as { code: string; message: string; detail: string }
    if (code === '22P02') return { refused: 'malformed-json', pointers: undefined }
    if (!code?.startsWith('PB')) throw error
    const refused = message.slice(0, message.indexOf(':'))
    if (refused !== 'invalid-fields') return { refused, pointers: undefined }
    const pointers = detail.split('\n').map((line) => line.slice(0, line.indexOf(':')))
    return { refused, pointers: pointers.toSorted() }
  } finally {
    client.release()
  }
}

/** All that is stored of a payment; instants that the writer did not give are masked. */
async function remembered(side: Side, paymentId: string, given: string): Promise<unknown> {
  const givenInstants = given.toUpperCase()
  const mask = (text: string) =>
    text.replace(/"(createdAt|completedAt)":"([^"]+)"/g, (whole, name, at) =>
      givenInstants.includes(at) ? whole : `"${name}":"now"`,
    )
  const { rows: payments } = await side.pool.query<{ text: string }>({
    name: 'remembered-payment',
    text: `select sequence, version, text, document_hash from payments where id = $1`,
    values: [paymentId],
  })
  const { rows: events } = await side.pool.query<{ text: string }>({
    name: 'remembered-events',
    text: `select sequence, kind, text, document_hash, document_bytes from events
     where payment_id = $1 order by id`,
    values: [paymentId],
  })
  return [...payments, ...events].map((row) => ({ ...row, text: mask(row.text) }))
}

async function sameOnBothSides(paymentId: string, texts: readonly string[]): Promise<unknown[]> {
  const outcomes: unknown[] = []
  for (const text of texts) {
    const [expected, actual] = await Promise.all([service.write(text), sql.write(text)])
    assert.deepEqual(actual, expected, text.slice(0, 2_000))
    outcomes.push(expected)
  }
  const [expected, actual] = await Promise.all([
    remembered(service, paymentId, texts.join()),
    remembered(sql, paymentId, texts.join()),
  ])
  assert.deepEqual(actual, expected)
  return outcomes
}

/** JSON with the amount's digits as they are given. */
function toText(members: Record<string, unknown>, amount: string): string {
  return JSON.stringify(members).replace('"@amount@"', () => amount)
}

const anyCase = (id: string) => fc.constantFrom(id, id.toUpperCase())
const someText = (min: number) =>
  fc.oneof(
    fc
      .string({ minLength: min, maxLength: 12, unit: 'binary' })
      .map((text) => text.replaceAll('\0', '0')),
    fc.constantFrom('"\\/\b\f\n\r\t\u0001\u001f\u007f\u2028', 'Zoë 💶', 'ſK', '\\u0000', '{}'),
  )
const instant = fc.constantFrom(
  '2026-01-31T09:30:00Z',
  '2024-02-29t23:59:59.123456789z',
  '2000-02-29T00:00:00+23:59',
  '0000-02-29T00:00:00.1-00:00',
)
const amount = fc.constantFrom(
  '100',
  '100.0',
  '100.00',
  '1e2',
  '0',
  '0.10E+30',
  '9007199254740993',
  '12.5e-3',
)
const document = fc.record({
  mediaType: fc.constantFrom('application/pdf', 'image/JPEG', 'text/plain; charset="a b"'),
  name: someText(1),
  base64EncodedFile: fc.constantFrom('JVBERi0=', 'AA==', '////', 'a'.repeat(400)),
})
const left = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.option(fc.option(arbitrary, { nil: null }), { nil: undefined })

/** One write of the payment: few values for each field, so that writes repeat and collide. */
const write = (id: string) =>
  fc.tuple(
    fc.record({
      id: anyCase(id),
      status: left(
        fc.record({ state: fc.constantFrom(...PAYMENT_STATES), reason: left(someText(0)) }),
      ),
      complete: left(fc.boolean()),
      createdAt: left(instant),
      completedAt: left(instant),
      externalId: someText(1),
      quoteId: anyCase('5d0c63c4-9a6e-4a0e-8f0c-0d7c4d6b1a02'),
      amount: fc.record({
        amount: fc.constant('@amount@'),
        currency: fc.constantFrom('EUR', 'USD'),
      }),
      reference: fc.constantFrom('one', 'two'),
      purposeOfPayment: fc.constantFrom(...PURPOSES),
      beneficiaryId: anyCase(NIL),
      documentReference: left(someText(0)),
      document: left(document),
      version: left(fc.integer({ min: -2, max: 6 })),
    }),
    amount,
  )
const NIL = '00000000-0000-0000-0000-00000000000a'

/** Small edits of one write: mostly repeats, moves and versions. */
const writes = fc.uuid().chain((id) =>
  fc
    .tuple(
      write(id),
      fc.array(fc.tuple(write(id), fc.double({ min: 0, max: 1, noNaN: true })), { maxLength: 7 }),
    )
    .map(([[first, amount], rest]) => {
      let members: Record<string, unknown> = first
      const texts = [toText(members, amount)]
      for (const [[next, nextAmount], share] of rest) {
        // The state and version always; of the others now and then one.
        const names = Object.keys(next)
        const other = names[Math.floor(share * 3 * names.length)] ?? 'status'
        const value = (next as Record<string, unknown>)[other]
        members = { ...members, status: next.status, version: next.version, [other]: value }
        texts.push(toText(members, share < 0.1 ? nextAmount : amount))
      }
      return { id, texts }
    }),
)

test('random writes of a payment end the same through the service and through SQL', async () => {
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(writes, async ({ id, texts }) => {
      for (const outcome of await sameOnBothSides(id, texts)) seen.add(JSON.stringify(outcome))
    }),
    { numRuns: 150 },
  )
  const kinds = [...seen].join()
  for (const kind of [
    'created',
    'unchanged',
    'stale',
    'forbidden-move',
    'payment.paid',
    'payment.updated',
  ]) {
    assert.ok(kinds.includes(kind), `no ${kind} came up`)
  }
})

test('every purpose and every state is known to both', async () => {
  for (const purposeOfPayment of PURPOSES) {
    const id = randomUUID()
    await sameOnBothSides(id, [JSON.stringify({ ...SAMPLE, id, purposeOfPayment })])
  }
  for (const state of PAYMENT_STATES) {
    for (const next of PAYMENT_STATES) {
      const id = randomUUID()
      const text = (to: string) =>
        JSON.stringify({ ...SAMPLE, version: null, id, status: { state: to } })
      await sameOnBothSides(id, [text(state), text(next)])
    }
  }
})

const CHANGES: readonly Record<string, unknown>[] = [
  ...Object.keys(SAMPLE).flatMap((name) =>
    [undefined, null, 17, '', 'x', true, [], {}, [{}], '\u0000', '\ud800'].map((value) => ({
      [name]: value,
    })),
  ),
  ...['state', 'reason'].flatMap((name) =>
    [undefined, null, 1, '', 'DRAFT', 'draft', {}].map((value) => ({
      status: { ...SAMPLE.status, [name]: value },
    })),
  ),
  ...['', 'eur', 'EURO', 'EUR\n', 'ÉUR', 1, null].map((currency) => ({
    amount: { amount: 1, currency },
  })),
  ...['1', '', null, true, []].map((it) => ({ amount: { amount: it, currency: 'EUR' } })),
  ...['mediaType', 'name', 'base64EncodedFile'].flatMap((name) =>
    [undefined, null, 1, '', {}].map((value) => ({
      document: { ...SAMPLE.document, [name]: value },
    })),
  ),
  ...[
    'pdf',
    'a/b/c',
    '/',
    'a/',
    ' a/b',
    'a/b ',
    'a/b;\u0001',
    'a/b;é',
    'ſ/K',
    'a/b\n',
    `a/${'b'.repeat(319)}`,
    'a/b  ; x',
  ].map((mediaType) => ({ document: { ...SAMPLE.document, mediaType } })),
  ...[
    'A',
    'AA',
    'AAA',
    'AA=',
    'AB==',
    'AAA=AAA=',
    'AA==\n',
    ' AA==',
    'A-_A',
    '====',
    'AA==AA==',
    'é',
    '💶',
    'AAAA\u2028',
  ].map((base64EncodedFile) => ({ document: { ...SAMPLE.document, base64EncodedFile } })),
  ...[
    '2026-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31T23:59:60Z',
    '2026-01-31 09:30:00Z',
    '2026-01-31T09:30:00',
    '2026-01-31T09:30Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-31T09:30:00.Z',
    '2026-01-31T09:30:00.1234567891Z',
    '2026-01-31T09:30:00+24:00',
    '2026-01-31T09:30:00Z\n',
    '２026-01-31T09:30:00Z',
  ].flatMap((at) => [{ createdAt: at }, { completedAt: at }]),
  ...[
    '5d0c63c49a6e4a0e8f0c0d7c4d6b1a02',
    '{5d0c63c4-9a6e-4a0e-8f0c-0d7c4d6b1a02}',
    '5d0c63c4-9a6e-4a0e-8f0c-0d7c4d6b1a0g',
    `${NIL}\n`,
  ].flatMap((id) => [{ quoteId: id }, { beneficiaryId: id }, { id }]),
  ...['x'.repeat(1_025), '💶'.repeat(1_025), '💶'.repeat(1_024), ' '].flatMap((text) => [
    { reference: text },
    { externalId: text },
    { documentReference: text },
    { status: { state: 'DUE', reason: text } },
    { document: { ...SAMPLE.document, name: text } },
  ]),
  { id: 1, quoteId: 2, amount: 3, reference: '', status: { state: 'X' }, document: 1 },
]

test('what one refuses the other refuses, with the same fields and codes', async () => {
  let refused = 0
  for (const change of CHANGES) {
    const id = randomUUID()
    const text = JSON.stringify({ ...SAMPLE, id, ...change })
    const [expected, actual] = await Promise.all([service.write(text), sql.write(text)])
    if (text.includes('\\u0000') || text.includes('\\ud800')) {
      // PostgreSQL refuses to look at such a text at all, so it does not say where it is.
      assert.match(JSON.stringify(actual), /invalid-(fields|text)|malformed-json/, text)
      assert.match(JSON.stringify(expected), /invalid-fields/, text)
    } else {
      assert.deepEqual(actual, expected, text)
    }
    if (JSON.stringify(expected).includes('refused')) refused++
  }
  assert.ok(refused > 150, `only ${refused}`)
})

test('numbers are read alike: digits as written, versions as a JSON reader sees them', async () => {
  const amounts = [
    '-1',
    '-0',
    '0',
    '1e30',
    '1e31',
    '1E-30',
    '1e-31',
    '1e+030',
    `0.${'1'.repeat(38)}`,
    `0.${'1'.repeat(39)}`,
    '1e9999999999',
    '01',
    '1.',
    '.1',
    '+1',
    '1e',
    'NaN',
    '0x1',
    '9'.repeat(40),
    '9'.repeat(41),
  ]
  for (const written of amounts) {
    const id = randomUUID()
    const text = toText({ ...SAMPLE, id, amount: { amount: '@amount@', currency: 'EUR' } }, written)
    await sameOnBothSides(id, [text])
  }
  const versions = [
    '1.0',
    '1e3',
    '1.5',
    '-0',
    '9007199254740991',
    '9007199254740992',
    '-9007199254740991',
    '-9007199254740992',
    '9007199254740991.2',
    '1e400',
    '-1e400',
    '1e-400',
    '0e999',
    '1e15',
    '123456789012345678901234567890',
    '12.0000000000000000001',
  ]
  for (const written of versions) {
    const id = randomUUID()
    const text = toText({ ...SAMPLE, id, version: '@amount@' }, written)
    await sameOnBothSides(id, [text])
  }
})

test('texts that are no payment, and members that come twice', async () => {
  for (const text of [
    'null',
    '[]',
    '1',
    '"x"',
    'true',
    '',
    '{',
    '{"a":1,}',
    '{a:1}',
    '\ufeff{}',
    '{} {}',
  ]) {
    const [expected, actual] = await Promise.all([service.write(text), sql.write(text)])
    assert.match(JSON.stringify(expected), /refused/)
    assert.match(JSON.stringify(actual), /refused/)
  }
  const id = randomUUID()
  const twice = JSON.stringify({ ...SAMPLE, id })
    .replace('{', '{"reference":"first","amount":{"amount":1,"amount":2.50,"currency":"EUR"},')
    .replace(/"version":\d+/, '"version":1,"version":null,"\\u0072eference":"last"')
  await sameOnBothSides(id, [twice])
})

test('a file of 10 MiB is taken and stored once, one byte more is refused', async () => {
  const file = (bytes: number) => Buffer.alloc(bytes, 7).toString('base64')
  const text = (id: string, base64EncodedFile: string) =>
    JSON.stringify({ ...SAMPLE, id, document: { ...SAMPLE.document, base64EncodedFile } })
  const ids = [randomUUID(), randomUUID(), randomUUID(), randomUUID()] as const
  await sameOnBothSides(ids[0], [text(ids[0], file(FILE_BYTES_MAX))])
  await sameOnBothSides(ids[1], [text(ids[1], file(FILE_BYTES_MAX))])
  await sameOnBothSides(ids[2], [text(ids[2], file(FILE_BYTES_MAX + 1))])
  await sameOnBothSides(ids[3], [text(ids[3], 'A'.repeat(FILE_BASE64_CHARACTERS_MAX + 4))])
  const { rows } = await sql.pool.query(
    'select count(*) as files from documents where length(content) = $1',
    [FILE_BASE64_CHARACTERS_MAX],
  )
  assert.deepEqual(rows, [{ files: 1 }])
})

/** Each set of kinds, all of them as one word, and no choice at all. */
const FILTERS: readonly (readonly string[] | null)[] = [
  null,
  ['payment.*'],
  ...Array.from({ length: 2 ** EVENT_KINDS.length - 1 }, (_, bits) =>
    EVENT_KINDS.filter((_kind, index) => (bits + 1) & (1 << index)),
  ),
]

/** An endpoint for each filter, of one account or of all; its address says which. */
async function addEndpoints({ pool, accountId }: Side): Promise<void> {
  const { rows } = await pool.query('select client_key from accounts where id = $1', [accountId])
  for (const [number, events] of FILTERS.entries()) {
    const isWebhook = number % 2 === 0
    await pool.query(
      `insert into endpoints (client_key, id, kind, account_id, shard, url, href_hash, shared_key,
         created_at, changed_at, events, deliver, document, signatures, hmac_header_name)
       values ($1, gen_random_uuid(), $2, $3, 1, $4::text, sha256(convert_to($4::text, 'UTF8')), '', now(), now(), $5::text[],
         'every', 'inline', '{hmac}', 'X-Paybell-Hmac')`,
      [
        rows[0].client_key,
        isWebhook ? 'webhook' : 'subscription',
        isWebhook ? accountId : null,
        `https://example.com/${events?.join() ?? 'all'}`,
        events,
      ],
    )
  }
}

async function owed({ pool }: Side, paymentId: string): Promise<readonly string[]> {
  const { rows } = await pool.query<{ owed: string }>(
    `select e.url || ' ' || p.sequence || ' ' || p.kind as owed
     from pending_deliveries p join endpoints e on e.id = p.endpoint_id
     where p.payment_id = $1 order by 1`,
    [paymentId],
  )
  return rows.map((row) => row.owed)
}

test('one owes what the other owes, whatever the endpoints hear', async () => {
  await Promise.all([addEndpoints(service), addEndpoints(sql)])
  const lives = [
    ['DRAFT', 'PENDING_APPROVAL', 'DRAFT', 'DUE', 'PAID'],
    ['DUE', 'CANCELLED'],
  ]
  for (const states of lives) {
    const id = randomUUID()
    const texts = states.map((state) =>
      JSON.stringify({ ...SAMPLE, id, version: undefined, status: { state }, document: undefined }),
    )
    await sameOnBothSides(id, texts)
    const [expected, actual] = await Promise.all([owed(service, id), owed(sql, id)])
    assert.deepEqual(actual, expected)
    // All of them to two endpoints, and each kind to half of the sets.
    assert.equal(expected.length, states.length * (2 + 2 ** (EVENT_KINDS.length - 1)))
    assert.ok(expected.includes('https://example.com/payment.created 1 payment.created'))
  }
})
