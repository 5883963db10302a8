// POST /operator/v1/payments/batch (decisions §9.2): lines in, lines out, one bad line harms no other.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { addClient, startPaybell } from '../support/paybell.ts'
import { SAMPLE } from '../support/payment-sample.ts'
import { startReceiver } from '../support/receiver.ts'

const receiver = await startReceiver({ after })
const paybell = await startPaybell({ after })
const stranger = await addClient(paybell, 'Stranger')

interface Line {
  line: number
  id: string | null
  event?: { id: string; type: string; sequence: number } | null
  stale?: true
  problem?: { code: string; status: number; type: string; errors?: { pointer: string }[] }
}

function line(id: string | undefined, changes: Record<string, unknown> = {}): string {
  const { version: _, document: __, ...sample } = SAMPLE
  return JSON.stringify({ accountId: paybell.accountId, ...sample, id, ...changes })
}

async function send(body: string | Buffer<ArrayBuffer>): Promise<Line[]> {
  const answer = await paybell.caller.putPayments(body)
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('content-type'), 'application/x-ndjson')
  const text = await answer.text()
  if (text === '') return []
  assert.ok(text.endsWith('\n'))
  return text
    .trimEnd()
    .split('\n')
    .map((each) => JSON.parse(each))
}

test('P9: each line is answered in order; bad lines stand between good ones and harm none', async () => {
  const ids = Array.from({ length: 8 }, () => randomUUID())
  const sent: [string, (answer: Line) => void][] = [
    [line(ids[0]), ({ event }) => assert.equal(event?.sequence, 1)],
    ['{"broken', ({ problem }) => assert.equal(problem?.code, 'malformed-json')],
    [line(ids[0], { reference: 'x' }), ({ event }) => assert.equal(event?.sequence, 2)],
    ['[]', ({ problem }) => assert.equal(problem?.code, 'invalid-fields')],
    ['42', ({ problem }) => assert.equal(problem?.status, 400)],
    [
      line(ids[1], { accountId: undefined }),
      ({ problem }) => assert.equal(problem?.code, 'invalid-fields'),
    ],
    [
      line(ids[2], { accountId: randomUUID() }),
      ({ problem }) => assert.equal(problem?.code, 'unknown-account'),
    ],
    [line(ids[0], { reference: 'x' }), ({ event }) => assert.equal(event, null)],
    [
      line(ids[0], { status: { state: 'DRAFT' } }),
      ({ problem }) => assert.equal(problem?.code, 'forbidden-move'),
    ],
    [
      line(ids[0], { accountId: stranger.accountId }),
      ({ problem }) => assert.equal(problem?.code, 'payment-of-another-account'),
    ],
    [
      line(ids[3], { reference: 'a\u0000b' }),
      ({ problem }) => assert.equal(problem?.errors?.[0]?.pointer, '/reference'),
    ],
    [line('not a uuid'), ({ problem }) => assert.equal(problem?.errors?.[0]?.pointer, '/id')],
    [line(undefined), ({ problem }) => assert.equal(problem?.errors?.[0]?.pointer, '/id')],
    [
      line(ids[4], { amount: { amount: -1, currency: 'EUR' } }),
      ({ problem }) => assert.equal(problem?.status, 400),
    ],
    [line(ids[5], { version: 2 }), ({ event }) => assert.equal(event?.type, 'payment.created')],
    [line(ids[5], { version: 1, reference: 'old' }), (answer) => assert.equal(answer.stale, true)],
    [
      line(ids[0], { status: { state: 'PAID' } }),
      ({ event }) => assert.equal(event?.type, 'payment.paid'),
    ],
  ]
  const answers = await send(sent.map(([text]) => text).join('\n'))
  assert.equal(answers.length, sent.length)
  for (const [index, answer] of answers.entries()) {
    const [text, check] = sent[index] ?? assert.fail()
    assert.equal(answer.line, index + 1)
    const isReadable = ids.some((id) => text.includes(`"id":"${id}"`))
    assert.equal(answer.id !== null, isReadable, text)
    check(answer)
    if (answer.problem) {
      assert.match(answer.problem.type, /^http:\/\/127\.0\.0\.1:\d+\/problems\//)
      assert.equal(answer.event, undefined)
    }
  }
})

test('blank lines are counted and not answered; CRLF and a missing newline at the end are fine', async () => {
  const [one, two] = [randomUUID(), randomUUID()]
  const answers = await send(`\r\n${line(one)}\r\n\n  \t\n${line(two)}`)
  assert.deepEqual(
    answers.map((answer) => [answer.line, answer.id, answer.event?.sequence]),
    [
      [2, one, 1],
      [5, two, 1],
    ],
  )
  assert.deepEqual(await send(''), [])
  assert.deepEqual(await send('\n\n'), [])
})

test('bytes that are no UTF-8 spoil their own line only', async () => {
  const [one, two] = [randomUUID(), randomUUID()]
  const bad = Buffer.from(line(randomUUID(), { reference: 'XX' }))
  bad.fill(0xff, bad.indexOf('XX'), bad.indexOf('XX') + 2)
  const answers = await send(
    Buffer.concat([Buffer.from(`${line(one)}\n`), bad, Buffer.from(`\n${line(two)}`)]),
  )
  assert.deepEqual(
    answers.map(({ problem }) => problem?.code),
    [undefined, 'malformed-json', undefined],
  )
  assert.equal(answers[1]?.id, null)
})

test('the lines of one payment are applied in their order, however many others are between them', async () => {
  const ids = Array.from({ length: 700 }, () => randomUUID())
  const rounds = Array.from({ length: 4 }, (_, round) =>
    ids.map((id) => line(id, { reference: `${round + 1}` })),
  )
  const answers = await send(rounds.flat().join('\n'))
  assert.equal(answers.length, 2_800)
  for (const [index, answer] of answers.entries()) {
    assert.equal(answer.event?.sequence, Math.floor(index / 700) + 1, `line ${answer.line}`)
  }
  const { rows } = await paybell.pool.query(
    `select count(*)::int as count from payments where id = any($1) and text like '%"reference":"4"%'`,
    [ids],
  )
  assert.deepEqual(rows, [{ count: 700 }])
})

test('the digits of an amount on a line reach the receiver as written', async () => {
  await paybell.caller.register(receiver.url('/money'), 'key')
  const amounts = ['9007199254740993.25', '100.00', '1e2']
  await send(amounts.map((amount) => line(randomUUID()).replace('12345.67', amount)).join('\n'))
  await receiver.hasSeen(({ received }) => received.length === 3)
  const seen = receiver.received.map(
    ({ body }) => /"amount":\{"amount":([^,]+),/.exec(String(body))?.[1],
  )
  assert.deepEqual(seen.sort(), [...amounts].sort())
})

test('only application/x-ndjson is taken', async () => {
  for (const type of ['application/json', 'text/plain', 'application/x-ndjson; charset=utf-16']) {
    assert.equal((await paybell.caller.putPayments(line(randomUUID()), type)).status, 415, type)
  }
})

test('a line longer than any payment is answered in order, and its neighbours are recorded', async () => {
  const [one, two] = [randomUUID(), randomUUID()]
  const long = line(randomUUID(), { filler: 'x'.repeat(15 * 1024 * 1024) })
  const answers = await send(`${line(one)}\n${long}\n${line(two)}\n`)
  assert.deepEqual(
    answers.map(({ problem }) => problem?.code),
    [undefined, 'body-too-large', undefined],
  )
})
