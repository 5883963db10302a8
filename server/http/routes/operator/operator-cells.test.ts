// The entry of a cell in the directory: who lives here although the id says otherwise, signed with the service's key.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { compactVerify, createLocalJWKSet } from 'jose'
import { startPaybell, until } from '../../../../test/support/paybell.ts'
import { type CellEntry, ENTRY_TYPE, parseEntry } from '../../../core/network/cell-directory.ts'
import { uuidAt } from '../../../core/plain/uuid.ts'

const paybell = await startPaybell(
  { after },
  { env: { PAYBELL_CELL_ADDRESS: 'https://cell0.example.com' } },
)

async function readEntry(): Promise<CellEntry> {
  const authorization = `Bearer ${paybell.operatorKey}`
  const answer = await fetch(`${paybell.baseUrl}/operator/v1/cells`, { headers: { authorization } })
  assert.equal(answer.status, 200)
  const { items } = (await answer.json()) as { items: Record<string, unknown>[] }
  assert.equal(items.length, 1)
  const [{ entry: jws, ...item }] = items as [Record<string, unknown>]
  assert.deepEqual(item, { cell: 0, address: 'https://cell0.example.com', isAway: false })
  const keys = await (await fetch(`${paybell.baseUrl}/.well-known/webhook-keys.json`)).json()
  const { payload, protectedHeader } = await compactVerify(
    jws as string,
    createLocalJWKSet(keys as never),
  )
  assert.equal(protectedHeader.typ, ENTRY_TYPE)
  const entry = parseEntry(JSON.parse(Buffer.from(payload).toString()), Date.now())
  assert.ok(entry)
  return entry
}

/** As `clients move` leaves them: made elsewhere, with an account. */
async function arrive(cell: number, number: number): Promise<{ id: string; account: string }> {
  const id = uuidAt(Date.now() + number, 0, Buffer.alloc(8, number), cell)
  const account = uuidAt(Date.now() + number, 1, Buffer.alloc(8, number), cell)
  const { rows } = await paybell.pool.query(
    `insert into clients (id, name, status, created_at) values ($1, 'arrived', 'ACTIVE', now())
     returning client_key`,
    [id],
  )
  await paybell.pool.query(
    `insert into accounts (id, client_key, name, created_at) values ($1, $2, 'Main', now())`,
    [account, rows[0].client_key],
  )
  return { id, account }
}

test('an entry names those who live here although their ids name another cell, and no one else', async () => {
  const before = await readEntry()
  assert.deepEqual([before.cell, before.clients, before.accounts], [0, [], []])
  assert.ok(Date.parse(before.stampedSince) <= Date.now())
  const { id, account } = await arrive(7, 1)
  const left = await arrive(3, 2)
  await paybell.pool.query(
    `insert into client_moves (client_key, client_id, to_cell, to_address, step, active_endpoints,
       started_at, moved_at)
     select client_key, id, 3, 'https://cell3.example.com', 'MOVED', '{}', now(), now()
     from clients where id = $1`,
    [left.id],
  )
  const entry = await until('the entry is made again', async () => {
    const made = await readEntry()
    return made.clients.length > 0 && made
  })
  assert.deepEqual(entry.clients, [id])
  assert.deepEqual(entry.accounts, [account])
  // Those who have left are said with where they went.
  assert.deepEqual(entry.moved, [{ cell: 3, clients: [left.id], accounts: [left.account] }])
  assert.ok(entry.keptMs >= 1_000)
})

test('the directory needs a key that may read', async () => {
  const url = `${paybell.baseUrl}/operator/v1/cells`
  assert.equal((await fetch(url)).status, 401)
  const token = await paybell.caller.token()
  assert.equal((await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status, 401)
})
