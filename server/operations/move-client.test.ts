// What a move does to the databases of two cells, without a process that serves either: the moments in which it is broken
// off, or something else writes. Under load it is in test/e2e/move-client.test.ts.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { cloneDatabase } from '../../test/support/database.ts'
import {
  setStatus,
  storeClient,
  storeEndpoint,
  storePending,
} from '../../test/support/stored-deliveries.ts'
import { openCell } from '../../test/support/two-cells.ts'
import { until } from '../../test/support/until.ts'
import { findRefusedClient } from '../store/move-fence.ts'
import { moveClient } from './move-client.ts'

const first = await cloneDatabase()
const seventh = await openCell({ after }, first, 7)

async function storeMovable() {
  const { clientKey, accountId } = await storeClient(first.pool)
  const endpoint = await storeEndpoint(first.pool, clientKey)
  await storePending(first.pool, endpoint)
  const { rows } = await first.pool.query('select id from clients where client_key = $1', [
    clientKey,
  ])
  const clientId: string = rows[0].id
  const there = {
    clientId,
    toCell: 7,
    toAddress: 'https://seven.example',
    sourceUrl: first.url,
    targetUrl: seventh.url,
    drainMs: 10,
  }
  const back = {
    ...there,
    toCell: 0,
    toAddress: 'https://zero.example',
    sourceUrl: seventh.url,
    targetUrl: first.url,
  }
  return { clientKey, clientId, accountId, endpoint, there, back }
}

/** Rows of the client, but for those by which callers are sent on. */
async function countLeft(clientKey: number): Promise<number> {
  const { rows } = await first.pool.query(
    `select (select count(*) from endpoints where client_key = $1)
       + (select count(*) from pending_deliveries where client_key = $1)
       + (select count(*) from endpoint_health where client_key = $1) as count`,
    [clientKey],
  )
  return rows[0].count
}

test('regression: a move that is completed by running it again removes the rows, and can be made back', async () => {
  const { clientKey, clientId, endpoint, there, back } = await storeMovable()
  // The copy is there, and its source does not get to know.
  await first.pool.query(
    `create function no_end() returns trigger language plpgsql as $$ begin raise 'broken off'; end $$;
     create trigger no_end before update on client_moves for each row
       when (new.state = 'MOVED') execute function no_end()`,
  )
  await assert.rejects(moveClient(there), /broken off/)
  await first.pool.query('drop function no_end cascade')
  assert.equal(await countLeft(clientKey), 2)
  assert.deepEqual(await moveClient(there), { rows: 0, frozenMs: 0 })
  assert.equal(await countLeft(clientKey), 0)

  // Counts of attempts are written up to a minute after them.
  await first.pool.query(
    `insert into endpoint_health (client_key, endpoint_id, circuit) values ($1, $2, 'CLOSED')`,
    [clientKey, endpoint.endpointId],
  )
  await moveClient(back)
  assert.equal(await countLeft(clientKey), 2)
  const { rows } = await seventh.pool.query(
    `select m.state from client_moves m where m.client_id = $1`,
    [clientId],
  )
  assert.deepEqual(rows, [{ state: 'MOVED' }])
})

test('a client that the other cell has already is not moved there: what it has would be replaced', async () => {
  const { clientId, there } = await storeMovable()
  await seventh.pool.query(
    `insert into clients (id, name, created_at) values ($1, 'Same', now())`,
    [clientId],
  )
  await assert.rejects(moveClient(there), /has a client with this id already/)
  const begun = await first.pool.query('select from client_moves where client_id = $1', [clientId])
  assert.equal(begun.rowCount, 0)
})

/** Does it as soon as the move has this state, as a process does that knows of no move yet. */
async function onceMoveIs(clientId: string, state: string, act: () => Promise<unknown>) {
  await until(`the move is ${state}`, async () => {
    const { rows } = await first.pool.query('select state from client_moves where client_id = $1', [
      clientId,
    ])
    return rows[0]?.state === state
  })
  await act()
}

test('regression: an endpoint that is resumed before the fence stands is not sent to from both cells', async () => {
  const { clientKey, clientId, endpoint, there } = await storeMovable()
  const moving = moveClient(there)
  const resumed = onceMoveIs(clientId, 'COPYING', () => setStatus(first.pool, endpoint, 'ACTIVE'))
  await assert.rejects(moving, /was resumed in the last moment/)
  await resumed
  assert.equal(await countLeft(clientKey), 2)
  const arrived = await seventh.pool.query('select from clients where id = $1', [clientId])
  assert.equal(arrived.rowCount, 0)
  await moveClient(there)
  const { rows } = await seventh.pool.query('select status from endpoints where id = $1', [
    endpoint.endpointId,
  ])
  assert.deepEqual(rows, [{ status: 'ACTIVE' }])
})

test('what was done to a client before the fence is in the other cell, and nothing is done after it', async () => {
  const { clientKey, clientId, there } = await storeMovable()
  const { rows: secrets } = await first.pool.query<{ id: string }>(
    `insert into client_secrets (client_key, id, digest, master_key_id, created_at)
     select $1, gen_random_uuid(), sha256(n::text::bytea), 'a key', now()
     from generate_series(1, 2000) as n returning id`,
    [clientKey],
  )
  const left = new Set(secrets.map(({ id }) => id))
  const opened = new Set<string>()
  let refused = 0
  let isOver = false
  const moved = moveClient(there).finally(() => {
    isOver = true
  })
  // As processes do that know of no move.
  const doOrRefuse = async (text: string, id: string, done: () => void) => {
    try {
      const { rowCount } = await first.pool.query(text, [clientKey, id])
      if (rowCount === 1) done()
    } catch (error) {
      assert.equal(findRefusedClient(error), clientKey, String(error))
      refused++
    }
  }
  const act = async () => {
    for (let n = 0; !isOver; n++) {
      const account = randomUUID()
      await doOrRefuse(`insert into accounts values ($1, $2, 'New', now())`, account, () =>
        opened.add(account),
      )
      const id = secrets[n % secrets.length]?.id as string
      await doOrRefuse('delete from client_secrets where client_key = $1 and id = $2', id, () =>
        left.delete(id),
      )
    }
  }
  await Promise.all([moved, act()])
  assert.ok(opened.size > 0 && refused > 0)
  const idsOf = async (table: string) => {
    const { rows } = await seventh.pool.query<{ id: string }>(
      `select t.id from ${table} t join clients c using (client_key) where c.id = $1`,
      [clientId],
    )
    return new Set(rows.map(({ id }) => id))
  }
  assert.deepEqual(await idsOf('client_secrets'), left)
  const accounts = await idsOf('accounts')
  assert.deepEqual(
    [...opened].filter((id) => !accounts.has(id)),
    [],
  )
})
