// Whether traffic may come, over a real socket: the database answers every question here, and yet the
// process must not say that it is ready.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { type Paybell, startPaybell, until } from '../support/paybell.ts'
import { startReceiver } from '../support/receiver.ts'

async function put(paybell: Paybell): Promise<number> {
  const id = randomUUID()
  return (await paybell.caller.putSample(id)).status
}

async function readyz(paybell: Paybell): Promise<{ status: number; reasons: readonly string[] }> {
  const answer = await fetch(`${paybell.baseUrl}/readyz`)
  const { reasons = [] } = (await answer.json()) as { reasons?: string[] }
  return { status: answer.status, reasons }
}

test('regression: while every payment is refused for a full disk, the process is not ready', async (t) => {
  const paybell = await startPaybell(t)
  assert.equal(await put(paybell), 201)
  // As PostgreSQL says it when a table cannot grow; leases, which need no room, are renewed all the same.
  await paybell.pool.query(`
    create function refuse_to_grow() returns trigger language plpgsql as $$
      begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$;
    create trigger refuse_to_grow before insert on events for each row execute function refuse_to_grow()`)
  for (let n = 0; n < 3; n++) assert.equal(await put(paybell), 503)
  assert.deepEqual(await readyz(paybell), {
    status: 503,
    reasons: ['Payment changes cannot be written: the disk of the database is full.'],
  })
  const metrics = await (await fetch(`${paybell.baseUrl}/metrics`)).text()
  assert.match(metrics, /^paybell_ready 0$/m)

  await paybell.pool.query('drop trigger refuse_to_grow on events')
  assert.equal(await put(paybell), 201)
  assert.equal((await readyz(paybell)).status, 200)
})

test('regression: a process that was taken out of service comes back by itself once rows are taken again', async (t) => {
  const paybell = await startPaybell(t)
  await paybell.pool.query(`
    create function refuse_to_grow() returns trigger language plpgsql as $$
      begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$;
    create trigger refuse_to_grow before insert on events for each row execute function refuse_to_grow()`)
  for (let n = 0; n < 3; n++) assert.equal(await put(paybell), 503)
  assert.equal((await readyz(paybell)).status, 503)
  await paybell.pool.query('drop trigger refuse_to_grow on events')
  // No payment comes any more, only questions.
  await until('it is ready', async () => (await readyz(paybell)).status === 200)
})

test('regression: a database that became read-only makes the process not ready', async (t) => {
  const paybell = await startPaybell(t)
  assert.equal((await readyz(paybell)).status, 200)
  const name = new URL(paybell.database.url).pathname.slice(1)
  const setReadOnly = async (value: 'on' | 'off') => {
    await paybell.pool.query(
      `begin read write; alter database ${name} set default_transaction_read_only = ${value}; commit`,
    )
    // Sessions keep what they began with: as after a failover, they have to connect again.
    await paybell.pool.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name like 'paybell%' and pid <> pg_backend_pid()`)
  }
  await setReadOnly('on')
  const reasons = ['The database is read-only: nothing can be written.']
  await until('it says so', async () => (await readyz(paybell)).reasons[0] === reasons[0])
  await setReadOnly('off')
  await until('it is ready', async () => (await readyz(paybell)).status === 200)
})

test('while it drains it takes payments and delivers them', async (t) => {
  const receiver = await startReceiver(t)
  const paybell = await startPaybell(t)
  await paybell.caller.register(receiver.url(), 'key')
  paybell.app.drain()
  assert.deepEqual((await readyz(paybell)).reasons, ['The service is stopping.'])
  assert.equal(await put(paybell), 201)
  await receiver.hasSeen(({ accepted }) => accepted.length === 1)
})
