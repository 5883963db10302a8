// A company records payments by paybell.record_payment inside its own transactions: what commits is
// owed and goes out at once, what rolls back never happened, and concurrent writers do not fork a sequence.

import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { limitOf } from '../support/busy-machine.ts'
import { collectCleanUps } from '../support/owner.ts'
import { type Paybell, readDeliveries, startPaybell, untilAllAre } from '../support/paybell.ts'
import { PLAIN, sampleBody } from '../support/payment-sample.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'

const RECORD = 'select paybell.record_payment($1, $2) as recorded'

let paybell: Paybell
let receiver: Receiver
// Registered while the file is loaded: inside a hook it would run when that hook ends.
const owner = collectCleanUps()
after(() => owner.cleanUp())

before(async () => {
  paybell = await startPaybell(owner)
  receiver = await startReceiver(owner)
  assert.equal((await paybell.caller.register(receiver.url(), 'key')).status, 200)
  assert.equal((await paybell.caller.register(receiver.url('/paused'), 'key')).status, 200)
  await paybell.pool.query(
    `update endpoints set status = 'PAUSED', inactive_since = now(), changed_at = now()
     where url like '%/paused'`,
  )
})

/** A connection of the company's own: nothing of the service's settings. */
async function asCompany<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: paybell.database.url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

function body(id: string, changes: Record<string, unknown> = {}): string {
  return sampleBody({ id, ...PLAIN, ...changes }).toString()
}

async function eventsOf(paymentId: string) {
  const { rows } = await paybell.pool.query<{ sequence: number; kind: string; reference: string }>(
    `select sequence, kind, text::json ->> 'reference' as reference from events
     where payment_id = $1 order by id`,
    [paymentId],
  )
  return rows
}

async function deliveriesOf(paymentId: string) {
  return (await readDeliveries(paybell.pool)).filter((row) => row.paymentId === paymentId)
}

test('what is rolled back leaves nothing, be it all or a part', async () => {
  const [whole, part, kept] = [randomUUID(), randomUUID(), randomUUID()]
  const document = { mediaType: 'text/plain', name: 'a', base64EncodedFile: 'Z29uZQ==' }
  await asCompany(async (client) => {
    await client.query('begin')
    await client.query(RECORD, [paybell.accountId, body(whole, { document })])
    await client.query('rollback')

    await client.query('begin')
    await client.query(RECORD, [paybell.accountId, body(kept)])
    await client.query('savepoint here')
    await client.query(RECORD, [paybell.accountId, body(part)])
    await client.query('rollback to here')
    await client.query('commit')
  })
  for (const id of [whole, part]) {
    assert.deepEqual(await eventsOf(id), [])
    assert.deepEqual(await deliveriesOf(id), [])
    assert.equal((await paybell.pool.query('select from payments where id = $1', [id])).rowCount, 0)
  }
  assert.equal((await eventsOf(kept)).length, 1)
  assert.equal((await paybell.pool.query('select from documents')).rowCount, 0)
  assert.equal((await paybell.pool.query('select from changes_at_commit')).rowCount, 0)
})

test('what commits is one event, owed to every endpoint, the paused one too, and goes out within a second', async () => {
  const id = randomUUID()
  const answer = await asCompany(async (client) => {
    await client.query('begin')
    const { rows } = await client.query(RECORD, [paybell.accountId, body(id)])
    // While it is open, the due reader passes the moment at which this was recorded.
    await delay(3_000)
    assert.deepEqual(await eventsOf(id), [])
    await client.query('commit')
    return rows[0].recorded
  })
  const committedAt = performance.now()
  assert.equal(answer.outcome, 'created')
  assert.deepEqual(answer.event, { type: 'payment.created', sequence: 1 })
  assert.equal(answer.payment.id, id)
  const mine = () => receiver.received.filter((it) => it.body.includes(id))
  await receiver.hasSeen(() => mine().length === 1)
  assert.ok(
    performance.now() - committedAt < limitOf(20_000),
    'only the sweep, once a minute, found it',
  )
  assert.deepEqual(
    (await eventsOf(id)).map(({ kind }) => kind),
    ['payment.created'],
  )
  assert.equal((await deliveriesOf(id)).length, 2)

  // The bytes are those that the service would have sent: its own write of the same changes nothing.
  const put = await paybell.caller.putPayment(id, Buffer.from(body(id)))
  assert.equal(((await put.json()) as { event: unknown }).event, null)
})

test('20 connections at once on one payment, the service among them: one event per change, no gap', async () => {
  const id = randomUUID()
  const text = (reference: string) =>
    body(id, { reference, status: { state: 'DRAFT' }, createdAt: '2026-01-31T09:30:00Z' })
  await Promise.all([
    ...Array.from({ length: 20 }, (_, index) =>
      asCompany((client) => client.query(RECORD, [paybell.accountId, text(`sql ${index}`)])),
    ),
    ...Array.from({ length: 5 }, (_, index) =>
      paybell.caller.putPayment(id, Buffer.from(text(`http ${index}`))),
    ),
  ])
  const events = await eventsOf(id)
  assert.deepEqual(
    events.map(({ sequence }) => sequence).toSorted((a, b) => a - b),
    Array.from({ length: 25 }, (_, index) => index + 1),
  )
  assert.equal(new Set(events.map(({ reference }) => reference)).size, 25)
  assert.equal((await deliveriesOf(id)).length, 50)
  await receiver.hasSeen(
    ({ accepted }) => accepted.filter((it) => it.body.includes(id)).length === 25,
  )
  assert.deepEqual(
    receiver.sequences(receiver.accepted.filter((it) => it.body.includes(id))),
    Array.from({ length: 25 }, (_, index) => index + 1),
  )
})

test('20 connections at once with one and the same first write: exactly one event and its deliveries', async () => {
  const id = randomUUID()
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, () =>
      asCompany(async (client) => {
        const { rows } = await client.query(RECORD, [paybell.accountId, body(id)])
        return rows[0].recorded.outcome as string
      }),
    ),
  )
  assert.deepEqual(outcomes.toSorted(), ['created', ...Array(19).fill('unchanged')])
  assert.equal((await eventsOf(id)).length, 1)
  assert.equal((await deliveriesOf(id)).length, 2)
})

test('many changes of one transaction keep their order, and their ids rise', async () => {
  const [one, other] = [randomUUID(), randomUUID()]
  await asCompany(async (client) => {
    await client.query('begin')
    for (const reference of ['a', 'b', 'c']) {
      for (const id of [one, other]) {
        await client.query(RECORD, [paybell.accountId, body(id, { reference })])
      }
    }
    await client.query('commit')
  })
  for (const id of [one, other]) {
    const events = await eventsOf(id)
    assert.deepEqual(
      events.map(({ reference }) => reference),
      ['a', 'b', 'c'],
    )
    assert.deepEqual(
      events.map(({ sequence }) => sequence),
      [1, 2, 3],
    )
  }
  // The ids carry the time of the commit, by the same clock as the service's.
  const { rows } = await paybell.pool.query(
    `select from events where payment_id = any($1) and created_at > now() - interval '1 minute'
       and tableoid <> 'events_default'::regclass and substr(id::text, 15, 1) = '7'`,
    [[one, other]],
  )
  assert.equal(rows.length, 6)
})

test('a session that switches triggers off, or checks constraints at once, owes its events all the same', async () => {
  for (const setting of [
    'set local session_replication_role = replica',
    'set constraints all immediate',
  ]) {
    const id = randomUUID()
    await asCompany(async (client) => {
      await client.query('begin')
      await client.query(setting)
      await client.query(RECORD, [paybell.accountId, body(id)])
      await client.query('commit')
    })
    assert.equal((await eventsOf(id)).length, 1, setting)
    assert.equal((await deliveriesOf(id)).length, 2, setting)
  }
})

test('under repeatable read, what changed since the snapshot is an error, never a fork', async () => {
  const id = randomUUID()
  await asCompany(async (late) => {
    await late.query('begin isolation level repeatable read')
    await late.query('select 1 from pg_class limit 1')
    await paybell.caller.putPayment(id, Buffer.from(body(id)))
    const refused = late.query(RECORD, [paybell.accountId, body(id, { reference: 'late' })])
    await assert.rejects(refused, { code: '40001' })
  })
  assert.equal((await eventsOf(id)).length, 1)
})

test('a refusal names its code and every wrong field, and records nothing', async () => {
  const { accountId } = paybell
  const id = randomUUID()
  await asCompany(async (client) => {
    const wrong = body(id, { quoteId: 'x', amount: { amount: -1, currency: 'eur' } })
    await assert.rejects(client.query(RECORD, [accountId, wrong]), (error: pg.DatabaseError) => {
      assert.equal(error.code, 'PB001')
      assert.equal(error.message, 'invalid-fields: 3 fields are invalid.')
      assert.match(error.detail ?? '', /^\/quoteId not-a-uuid: Must be a uuid/m)
      assert.match(error.detail ?? '', /^\/amount\/amount negative-amount: /m)
      assert.match(error.detail ?? '', /^\/amount\/currency not-a-currency: /m)
      assert.match(error.hint ?? '', /docs\/feeding\.md/)
      return true
    })
    await assert.rejects(client.query(RECORD, [randomUUID(), body(id)]), {
      code: 'PB002',
      message: 'unknown-account: No account has this id.',
    })
    await client.query(RECORD, [accountId, body(id, { status: { state: 'PAID' } })])
    await assert.rejects(
      client.query(RECORD, [accountId, body(id, { status: { state: 'DUE' } })]),
      {
        code: 'PB004',
        message: 'forbidden-move: A payment cannot go from PAID to DUE.',
      },
    )
    const other = (await paybell.app.deps.pool.query('select id from clients limit 1')).rows[0].id
    const { openAccount } = await import('../../server/operations/clients/open-account.ts')
    const account = await openAccount(paybell.app.deps, other, 'Another')
    await assert.rejects(client.query(RECORD, [account.id, body(id)]), { code: 'PB003' })
  })
  assert.equal((await eventsOf(id)).length, 1)
})

test('a role that was granted the function may call it and touch nothing else', async () => {
  const role = `shop_${randomBytes(6).toString('hex')}`
  await asCompany(async (client) => {
    await client.query(`create role ${role}`)
    try {
      await client.query(`grant usage on schema paybell to ${role}`)
      await client.query(`set role ${role}`)
      const call = () => client.query(RECORD, [paybell.accountId, body(randomUUID())])
      await assert.rejects(call(), { code: '42501' })
      await client.query('reset role')
      await client.query(`grant execute on function paybell.record_payment(uuid, json) to ${role}`)
      await client.query(`set role ${role}`)
      // Nor can a session that shadows names lead it astray.
      await client.query(
        'create temp table payments (id uuid); create temp table accounts (id uuid)',
      )
      await client.query('set search_path = pg_temp, public')
      assert.equal((await call()).rows[0].recorded.outcome, 'created')
      for (const table of ['payments', 'events', 'changes_at_commit', 'client_secrets']) {
        await assert.rejects(client.query(`select from paybell.${table}`), { code: '42501' })
      }
      await assert.rejects(client.query(`select paybell.read_payment('{}')`), { code: '42501' })
    } finally {
      await client.query('reset role')
      await client.query(`drop owned by ${role}; drop role ${role}`)
    }
  })
})

test('all of it was delivered', async () => {
  await paybell.pool.query(
    `update endpoints set deleted_at = now(), changed_at = now() where url like '%/paused'`,
  )
  await paybell.pool.query(
    `delete from pending_deliveries where endpoint_id in
       (select id from endpoints where url like '%/paused')`,
  )
  await untilAllAre(paybell.pool, ['DELIVERED'])
})
