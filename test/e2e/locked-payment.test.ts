// One payment is held by a transaction that stays open: a company's own, or a lock in a forgotten session.
// Its writers wait, each in order and not for ever; writers of other payments do not.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { collectCleanUps } from '../support/owner.ts'
import { type Paybell, startPaybell, until } from '../support/paybell.ts'
import { PLAIN, sampleBody } from '../support/payment-sample.ts'

const RECORD = 'select paybell.record_payment($1, $2) as recorded'
const STRANGERS = 200

let paybell: Paybell
// Registered while the file is loaded: inside a hook it would run when that hook ends.
const owner = collectCleanUps()
after(() => owner.cleanUp())
before(async () => {
  paybell = await startPaybell(owner, {
    env: { PAYBELL_REQUESTS_PER_SECOND: '10000' },
    // A wait is over when the test says so, however busy the machine is.
    timing: { statementTimeoutMs: 60_000 },
  })
})

type Changes = Record<string, unknown>

function put(id: string, changes: Changes = {}, of: Paybell = paybell): Promise<Response> {
  return of.caller.putSample(id, { ...PLAIN, ...changes })
}

function batch(lines: readonly Changes[], of: Paybell = paybell): Promise<Response> {
  const text = lines.map((changes) => {
    const { accountId } = of
    return String(sampleBody({ accountId, version: undefined, document: undefined, ...changes }))
  })
  return of.caller.putPayments(text)
}

interface OpenTransaction {
  client: pg.Client
  end(how: 'commit' | 'rollback'): Promise<void>
}

async function inOpenTransaction(
  work: (client: pg.Client) => Promise<unknown>,
  of: Paybell = paybell,
): Promise<OpenTransaction> {
  const client = new pg.Client({ connectionString: of.database.url })
  // A test that fails leaves it open.
  client.on('error', () => {})
  await client.connect()
  await client.query('begin')
  await work(client)
  return {
    client,
    async end(how) {
      await client.query(how)
      await client.end()
    },
  }
}

const byRecordPayment = (id: string) => (client: pg.Client) =>
  client.query(RECORD, [
    paybell.accountId,
    sampleBody({ id, ...PLAIN, reference: 'company' }).toString(),
  ])
const byAdvisoryLock = (id: string) => (client: pg.Client) =>
  client.query('select pg_advisory_xact_lock(uuid_hash_extended($1::uuid, 0))', [id])

/** How many of the service's sessions wait for a lock. */
async function waiting(of: Paybell = paybell): Promise<number> {
  const { rows } = await of.pool.query<{ count: number }>(
    `select count(*)::int from pg_stat_activity where datname = current_database()
       and application_name = 'paybell' and wait_event_type = 'Lock'`,
  )
  return rows[0]?.count ?? 0
}

async function referencesOf(id: string): Promise<string[]> {
  const { rows } = await paybell.pool.query<{ reference: string }>(
    `select text::json ->> 'reference' as reference from events
     where payment_id = $1 order by sequence`,
    [id],
  )
  return rows.map(({ reference }) => reference)
}

for (const [name, hold] of [
  ['an open record_payment', byRecordPayment],
  ['an advisory lock', byAdvisoryLock],
] as const) {
  test(`regression: while ${name} holds a payment, 200 strangers are accepted and its own writers wait in order`, async () => {
    const id = randomUUID()
    const open = await inOpenTransaction(hold(id))
    let isAnswered = false
    const first = put(id, { reference: 'first' }).finally(() => {
      isAnswered = true
    })
    await until('it waits', async () => (await waiting()) === 1)
    const second = put(id, { reference: 'second' })
    const lines = batch([{ id: randomUUID() }, { id, reference: 'third' }, { id: randomUUID() }])
    // One after the other: a stranger that is held up holds all of them up.
    for (let n = 0; n < 20; n++) assert.equal((await put(randomUUID())).status, 201)
    const atOnce = Array.from({ length: STRANGERS }, () => put(randomUUID()))
    for (const answer of await Promise.all(atOnce)) assert.equal(answer.status, 201)
    assert.equal(isAnswered, false, 'the lock is still held')
    assert.equal(await waiting(), 1, 'and one transaction waits for it, for all its writers')

    await open.end('commit')
    assert.ok((await first).ok)
    assert.equal((await second).status, 200)
    const answers = (await (await lines).text()).trim().split('\n')
    assert.equal(answers.filter((line) => line.includes('"event":{')).length, 3, answers.join())
    const company = hold === byRecordPayment ? ['company'] : []
    assert.deepEqual(await referencesOf(id), [...company, 'first', 'second', 'third'])
  })
}

test('regression: strangers are accepted while a company holds the file that a payment comes with', async () => {
  const document = {
    mediaType: 'text/plain',
    name: 'terms.txt',
    base64EncodedFile: Buffer.from(randomUUID()).toString('base64'),
  }
  const [company, ours] = [randomUUID(), randomUUID()]
  const open = await inOpenTransaction((client) =>
    client.query(RECORD, [
      paybell.accountId,
      sampleBody({ id: company, version: undefined, document }).toString(),
    ]),
  )
  let isAnswered = false
  const withFile = put(ours, { document, reference: 'with' }).finally(() => {
    isAnswered = true
  })
  await until('it waits', async () => (await waiting()) === 1)
  const without = put(ours, { reference: 'without' })
  for (let n = 0; n < 20; n++) {
    const other = { ...document, base64EncodedFile: Buffer.from(`${n}`).toString('base64') }
    assert.equal((await put(randomUUID(), { document: other })).status, 201)
  }
  assert.equal(isAnswered, false, 'the file is still held')
  await open.end('rollback')
  assert.equal((await withFile).status, 201)
  assert.equal((await without).status, 200)
  assert.deepEqual(await referencesOf(ours), ['with', 'without'])
})

test('regression: a company that comes for the payment that waits for its file gets it, without a deadlock', async () => {
  const document = {
    mediaType: 'text/plain',
    name: 'terms.txt',
    base64EncodedFile: Buffer.from(randomUUID()).toString('base64'),
  }
  const ours = randomUUID()
  const body = (id: string, changes: Changes) => sampleBody({ id, ...PLAIN, ...changes }).toString()
  const company = await inOpenTransaction((client) =>
    client.query(RECORD, [paybell.accountId, body(randomUUID(), { document })]),
  )
  const withFile = put(ours, { document, reference: 'service' })
  await until('it waits for the file', async () => (await waiting()) === 1)
  await company.client.query(RECORD, [paybell.accountId, body(ours, { reference: 'company' })])
  await company.end('commit')
  assert.equal((await withFile).status, 200)
  assert.deepEqual(await referencesOf(ours), ['company', 'service'])
})

test('a payment that stays locked is answered 503 with Retry-After when its time is over, alone', async (t) => {
  const short = await startPaybell(t, { timing: { statementTimeoutMs: 1_000 } })
  const ids = Array.from({ length: 6 }, () => randomUUID())
  const open = await inOpenTransaction(async (client) => {
    for (const id of ids) await byAdvisoryLock(id)(client)
  }, short)
  // More payments than may wait in transactions of their own: two are tried again and again.
  const answers: Response[] = []
  const locked = ids.map((id) => put(id, {}, short).then((answer) => void answers.push(answer)))
  await until('as many wait as may', async () => (await waiting(short)) === 4)
  assert.equal((await put(randomUUID(), {}, short)).status, 201)
  await until('the time of those four is over', () => answers.length === 4)
  for (const answer of answers) {
    assert.equal(answer.status, 503)
    assert.equal(answer.headers.get('retry-after'), '2')
    const problem = (await answer.json()) as { code: string; detail: string }
    assert.equal(problem.code, 'overloaded')
    assert.match(problem.detail, /^Another transaction holds this payment/)
  }
  await open.end('rollback')
  await Promise.all(locked)
  for (const answer of answers.slice(4)) assert.equal(answer.status, 201)
  for (const id of ids) assert.ok((await put(id, {}, short)).ok)
})

test('what waits for a lock leaves a trail of its own, and only when it was taken', async () => {
  const id = randomUUID()
  const open = await inOpenTransaction(byAdvisoryLock(id))
  const answer = put(id)
  await until('it waits', async () => (await waiting()) === 1)
  const trail = () =>
    paybell.pool.query(`select id from audit where object = $1`, [`payment:${id}`])
  assert.equal((await trail()).rows.length, 0)
  await open.end('rollback')
  assert.equal((await answer).status, 201)
  assert.equal((await trail()).rows.length, 1)
})
