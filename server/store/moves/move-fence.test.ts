import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { beginMoveOf, bringMoveTo } from '../../../test/support/moving.ts'
import { migrateTo } from '../../../test/support/older-schema.ts'
import {
  storeClient,
  storeEndpoint,
  storePending,
} from '../../../test/support/stored-deliveries.ts'
import type { MoveState } from '../../core/network/client-move.ts'
import { inTransaction } from '../connection/db.ts'
import { migrate } from '../schema/migrate.ts'
import { findMoveOfEndpoint, forgetMove } from './client-moves.ts'
import { findRefusedClient, lowerFence, passFence } from './move-fence.ts'

const { pool } = await cloneDatabase()

async function storeOne() {
  const { clientKey } = await storeClient(pool)
  const endpoint = await storeEndpoint(pool, clientKey)
  const insertSecret = `insert into client_secrets (client_key, id, digest, master_key_id, created_at)
    values (${clientKey}, gen_random_uuid(), sha256(''), 'a key', now())`
  await pool.query(insertSecret)
  await beginMoveOf(pool, { clientKey, clientId: randomUUID() })
  const acts: Readonly<Record<string, () => Promise<unknown>>> = {
    'disable it': () =>
      pool.query(`update clients set status = 'DISABLED' where client_key = $1`, [clientKey]),
    'open an account': () =>
      pool.query(`insert into accounts values ($1, $2, 'New', now())`, [clientKey, randomUUID()]),
    'issue a secret': () => pool.query(insertSecret),
    'revoke a secret': () =>
      pool.query(
        `delete from client_secrets where client_key = $1 and id = (
           select min(id::text)::uuid from client_secrets where client_key = $1)`,
        [clientKey],
      ),
    'make a link': () =>
      pool.query('insert into client_console_links values ($1, $2, now())', [
        randomBytes(32),
        clientKey,
      ]),
    'resume an endpoint': () =>
      pool.query(`update endpoints set changed_at = now() where client_key = $1`, [clientKey]),
    'replay a delivery': () => storePending(pool, endpoint),
    'begin a job': () =>
      pool.query(
        `insert into job_items (client_key, delivery_id, endpoint_id, place, job_id)
         values ($1, $2, $3, 0, $4)`,
        [clientKey, randomUUID(), endpoint.endpointId, randomUUID()],
      ),
  }
  return { clientKey, acts }
}

/** The names of those that are refused. */
async function refused({ clientKey, acts }: Awaited<ReturnType<typeof storeOne>>) {
  const names: string[] = []
  for (const [name, act] of Object.entries(acts)) {
    try {
      await act()
    } catch (error) {
      assert.equal(findRefusedClient(error), clientKey, String(error))
      names.push(name)
    }
  }
  return names
}

const toState = (clientKey: number, state: MoveState) => bringMoveTo(pool, clientKey, state)

test('no act on a client gets through while it is copied, nor until its rows are removed', async () => {
  const [moving, other] = [await storeOne(), await storeOne()]
  const all = Object.keys(moving.acts)
  assert.deepEqual(await refused(moving), [])
  await toState(moving.clientKey, 'COPYING')
  assert.deepEqual(await refused(moving), all)
  assert.deepEqual(await refused(other), [])

  await toState(moving.clientKey, 'MOVED')
  assert.deepEqual(await refused(moving), all)
  await toState(moving.clientKey, 'REMOVED')
  // The rest has nothing to act on, and would cost every row that is accepted.
  assert.deepEqual(await refused(moving), [
    'disable it',
    'open an account',
    'issue a secret',
    'revoke a secret',
    'make a link',
    'resume an endpoint',
  ])

  await inTransaction(pool, async (db) => {
    await forgetMove(db, moving.clientKey)
    await lowerFence(db)
  })
  assert.deepEqual(await refused(moving), [])
})

test('the move itself passes, for one transaction and one client', async () => {
  const [moving, other] = [await storeOne(), await storeOne()]
  await toState(moving.clientKey, 'COPYING')
  await toState(other.clientKey, 'COPYING')
  const remove = 'delete from client_secrets where client_key = $1'
  await inTransaction(pool, async (db) => {
    await passFence(db, moving.clientKey)
    assert.equal((await db.query(remove, [moving.clientKey])).rowCount, 1)
  })
  const refusal = { code: '55P03', detail: `client_key ${other.clientKey}` }
  await assert.rejects(
    inTransaction(pool, async (db) => {
      await passFence(db, moving.clientKey)
      await db.query(remove, [other.clientKey])
    }),
    refusal,
  )
  await assert.rejects(pool.query(remove, [other.clientKey]), refusal)
})

async function readEnabled(): Promise<readonly string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select tgrelid::regclass::text as name from pg_trigger
     where tgname = 'moving_clients' and tgenabled <> 'D' order by 1`,
  )
  return rows.map(({ name }) => name)
}

test('regression: triggers that keep no one out are disabled, and none is made or dropped', async () => {
  await pool.query('delete from client_moves')
  await inTransaction(pool, lowerFence)
  const readAll = async () =>
    (
      await pool.query(
        `select oid::text from pg_trigger where tgname = 'moving_clients' order by 1`,
      )
    ).rows
  const made = await readAll()
  assert.deepEqual([made.length, await readEnabled()], [9, []])
  const { clientKey } = await storeOne()
  await toState(clientKey, 'CLOSING')
  assert.deepEqual(await readEnabled(), [])
  await toState(clientKey, 'COPYING')
  assert.equal((await readEnabled()).length, 9)
  await toState(clientKey, 'REMOVED')
  const lasting = await readEnabled()
  assert.equal(lasting.length, 7)
  assert.ok(!lasting.includes('pending_deliveries'))
  assert.deepEqual(await readAll(), made)
})

test('regression: the fence is raised beside readers, who hold whatever they like', async () => {
  const { clientKey } = await storeOne()
  await toState(clientKey, 'CLOSING')
  const reader = await pool.connect()
  try {
    await reader.query('begin; select count(*) from payments; select count(*) from client_moves')
    await toState(clientKey, 'REMOVED')
  } finally {
    await reader.query('rollback')
    reader.release()
  }
})

test('regression: a transaction that keeps an older snapshot does not write past the fence', async () => {
  const { clientKey } = await storeOne()
  const late = await pool.connect()
  try {
    await late.query('begin isolation level repeatable read')
    await late.query('select from clients')
    await toState(clientKey, 'COPYING')
    const open = late.query(`insert into accounts values ($1, $2, 'New', now())`, [
      clientKey,
      randomUUID(),
    ])
    await assert.rejects(open, { code: '40001' })
  } finally {
    await late.query('rollback')
    late.release()
  }
})

test('a client that left before the upgrade is kept out after it, and its links are known', async () => {
  const older = await cloneDatabase({ template: 'template0' })
  await migrateTo(older.url, '0042_final_replays')
  const { clientKey } = await storeClient(older.pool)
  const endpointId = randomUUID()
  await older.pool.query(
    `insert into client_moves (client_key, client_id, to_cell, to_address, state, active_endpoints,
       started_at, moved_at, removed_at)
     values ($1, $2, 7, 'https://seven.example', 'MOVED', $3, now(), now(), now())`,
    [clientKey, randomUUID(), [endpointId]],
  )
  await older.pool.query(
    `create trigger moving_clients before insert or update on payments for each row
     when (new.client_key = any('{${clientKey}}'::integer[])) execute function refuse_moving()`,
  )
  await migrate(older.url, new Date())
  const { rows } = await older.pool.query('select state, step from client_moves')
  assert.deepEqual(rows, [{ state: 'MOVED', step: 'REMOVED' }])
  const insert = older.pool.query(
    `insert into payments (client_key, id, account_id, sequence, text, accepted_at, changed_at)
     values ($1, $2, $2, 1, '{}', now(), now())`,
    [clientKey, randomUUID()],
  )
  await assert.rejects(insert, { code: '55P03', detail: `client_key ${clientKey}` })
  assert.equal((await findMoveOfEndpoint(older.pool, endpointId))?.clientKey, clientKey)
})
