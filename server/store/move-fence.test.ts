import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { cloneDatabase } from '../../test/support/database.ts'
import { storeClient, storeEndpoint, storePending } from '../../test/support/stored-deliveries.ts'
import { beginMove, forgetMove, noteRemoved, saveMoveState } from './client-moves.ts'
import { inTransaction } from './db.ts'
import { findRefusedClient, passFence, raiseFence } from './move-fence.ts'

const { pool } = await cloneDatabase()
const NOW = new Date()

async function storeOne() {
  const { clientKey } = await storeClient(pool)
  const endpoint = await storeEndpoint(pool, clientKey)
  const insertSecret = `insert into client_secrets (client_key, id, digest, master_key_id, created_at)
    values (${clientKey}, gen_random_uuid(), sha256(''), 'a key', now())`
  await pool.query(insertSecret)
  const move = {
    clientKey,
    clientId: randomUUID(),
    toCell: 7,
    toAddress: 'https://seven.example',
  }
  await inTransaction(pool, (db) => beginMove(db, move, NOW))
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

const toState = (clientKey: number, state: 'COPYING' | 'MOVED') =>
  inTransaction(pool, async (db) => {
    await saveMoveState(db, clientKey, state, NOW)
    await raiseFence(db)
  })

test('no act on a client gets through while it is copied, nor until its rows are removed', async () => {
  const [moving, other] = [await storeOne(), await storeOne()]
  const all = Object.keys(moving.acts)
  assert.deepEqual(await refused(moving), [])
  await toState(moving.clientKey, 'COPYING')
  assert.deepEqual(await refused(moving), all)
  assert.deepEqual(await refused(other), [])

  await toState(moving.clientKey, 'MOVED')
  assert.deepEqual(await refused(moving), all)
  await inTransaction(pool, async (db) => {
    await noteRemoved(db, moving.clientKey, NOW)
    await raiseFence(db)
  })
  // What is left has nothing to act on, and costs every row that is accepted.
  assert.deepEqual(await refused(moving), [
    'disable it',
    'open an account',
    'issue a secret',
    'make a link',
    'resume an endpoint',
  ])

  await inTransaction(pool, async (db) => {
    await forgetMove(db, moving.clientKey)
    await raiseFence(db)
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

test('a fence that stands as it should is not made again: readers would have to wait', async () => {
  const { clientKey } = await storeOne()
  await toState(clientKey, 'COPYING')
  const readFence = async () =>
    (
      await pool.query(
        `select oid::text from pg_trigger where tgname in ('moving_clients', 'moving_clients_kept')
         order by oid`,
      )
    ).rows
  const standing = await readFence()
  assert.equal(standing.length, 9)
  await inTransaction(pool, raiseFence)
  assert.deepEqual(await readFence(), standing)
})
