// The SQL of docs/feeding.md does what the page says, and its table of refusals is the whole one.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import pg from 'pg'
import { cloneDatabase } from '../support/database.ts'
import { storeClient } from '../support/stored-deliveries.ts'

const page = readFileSync(new URL('../../docs/feeding.md', import.meta.url), 'utf8')
const migration = readFileSync(
  new URL('../../migrations/0006_record_payment.sql', import.meta.url),
  'utf8',
)

test('its statements run, and leave a payment, its event and the order', async () => {
  const [grants, transaction] = [...page.matchAll(/```sql\n(.*?)```/gs)].map((match) => match[1])
  assert.ok(grants && transaction)
  const { pool, url } = await cloneDatabase()
  const { accountId } = await storeClient(pool)
  const documented = /account_id => '([^']+)'/.exec(transaction)?.[1] ?? assert.fail()
  await pool.query('update accounts set id = $2 where id = $1', [accountId, documented])
  const role = `shop_${randomBytes(6).toString('hex')}`
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('create table public.orders as select 1001 as id, $$new$$::text as state')
    await client.query(grants.replaceAll(/\bshop\b/g, role))
    await client.query(`grant all on public.orders to ${role}; set role ${role}`)
    await client.query(transaction)
    await client.query('reset role')
    assert.deepEqual((await client.query('select state from public.orders')).rows, [
      { state: 'due' },
    ])
  } finally {
    await client.query('rollback')
    await client.query('reset role')
    await client.query(`drop owned by ${role}; drop role ${role}`)
    await client.end()
  }
  const { rows } = await pool.query('select kind, text from events')
  assert.equal(rows.length, 1)
  assert.equal(rows[0].kind, 'payment.created')
  assert.match(rows[0].text, /"amount":1250\.00,/)
})

test('every refusal of the function is in its table, under the same state', () => {
  const raised = [...migration.matchAll(/refuse_payment\('(PB\d{3})', '([\w-]+)'/g)]
  const shown = [...page.matchAll(/^\| `(PB\d{3})` \| `([\w-]+)` \|/gm)]
  const pairs = (matches: RegExpMatchArray[]) =>
    [...new Set(matches.map((match) => `${match[1]} ${match[2]}`))].toSorted()
  assert.deepEqual(pairs(shown), pairs(raised))
})
