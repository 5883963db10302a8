// What a move does to the databases of two cells, without a process that serves either: the moments in which it is broken
// off, or something else writes. Under load it is in test/e2e/move-client.release.test.ts.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { limitOf } from '../../../test/support/busy-machine.ts'
import { cloneDatabase } from '../../../test/support/database.ts'
import { startTcpProxy } from '../../../test/support/database-proxy.ts'
import {
  setStatus,
  storeClient,
  storeEndpoint,
  storePending,
} from '../../../test/support/stored-deliveries.ts'
import { openCell } from '../../../test/support/two-cells.ts'
import { until } from '../../../test/support/until.ts'
import { addressOf } from '../../store/connection/session.ts'
import { findEarlierAddress } from '../../store/endpoints/earlier-addresses.ts'
import { findRefusedClient } from '../../store/moves/move-fence.ts'
import { findKeptLink, keepLinks } from '../../store/payments/document-links.ts'
import { moveClient, undoMove } from './move-client.ts'

const first = await cloneDatabase()
const seventh = await openCell({ after }, first, 7)
// The processes of both have used the master keys of what is stored here.
for (const { pool } of [first, seventh]) {
  const { clientKey } = await storeClient(pool)
  await storeEndpoint(pool, clientKey)
  await storeSecrets(pool, clientKey, 'a key')
}

function storeSecrets(pool: typeof first.pool, clientKey: number, masterKey: string, count = 1) {
  return pool.query<{ id: string }>(
    `insert into client_secrets (client_key, id, digest, master_key_id, created_at)
     select $1, gen_random_uuid(), sha256(n::text::bytea), $2, now()
     from generate_series(1, $3) as n returning id`,
    [clientKey, masterKey, count],
  )
}

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
    knownMs: 10,
    waitMsMax: 60_000,
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
       when (new.step = 'MOVED') execute function no_end()`,
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
    `select m.step from client_moves m where m.client_id = $1`,
    [clientId],
  )
  assert.deepEqual(rows, [{ step: 'REMOVED' }])
})

test('links that callbacks have carried, and addresses of before, go along: bytes and receipts stay what they are', async () => {
  const { clientKey, endpoint, there } = await storeMovable()
  const key = { eventId: randomUUID(), endpointId: endpoint.endpointId }
  const [kept] = await keepLinks(first.pool, [
    { clientKey, ...key, url: 'https://zero.example/documents/x' },
  ])
  const sentAt = new Date()
  await first.pool.query(`update endpoints set url = url || '?' where client_key = $1`, [clientKey])
  const address = await findEarlierAddress(first.pool, { clientKey, ...key }, sentAt)
  assert.ok(address !== null)
  await moveClient(there)
  const { rows } = await seventh.pool.query('select client_key from clients where id = $1', [
    there.clientId,
  ])
  const moved = { clientKey: rows[0].client_key as number, ...key }
  assert.equal(await findKeptLink(seventh.pool, moved), kept)
  assert.equal(await findEarlierAddress(seventh.pool, moved, sentAt), address)
  assert.equal(await findKeptLink(first.pool, { clientKey, ...key }), null)
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

test('a client moves only to a cell that is as far with binding secrets to addresses, and a new one takes over how far that is', async () => {
  const { clientId, there } = await storeMovable()
  const set = (pool: typeof first.pool, binding: string, mark: Buffer | null) =>
    pool.query('update sealing set binding = $1, binding_authentication = $2', [binding, mark])
  const mark = Buffer.from('a mark')
  await set(first.pool, 'done', mark)
  await set(seventh.pool, 'none', null)
  await assert.rejects(moveClient(there), /run "paybell reseal" in both/)
  await set(first.pool, 'none', null)
  await set(seventh.pool, 'done', mark)
  await assert.rejects(moveClient(there), /run "paybell reseal" in both/)
  const begun = await first.pool.query('select from client_moves where client_id = $1', [clientId])
  assert.equal(begun.rowCount, 0)

  await set(first.pool, 'done', mark)
  await set(seventh.pool, 'begun', null)
  await moveClient(there)
  const { rows } = await seventh.pool.query('select binding, binding_authentication from sealing')
  assert.deepEqual(rows, [{ binding: 'done', binding_authentication: mark }])
  for (const { pool } of [first, seventh]) await set(pool, 'begun', null)
})

/** Does it as soon as the move has this state, as a process does that knows of no move yet. */
async function onceMoveIs(clientId: string, state: string, act: () => Promise<unknown>) {
  await until(`the move is ${state}`, async () => {
    const { rows } = await first.pool.query('select step from client_moves where client_id = $1', [
      clientId,
    ])
    return rows[0]?.step === state
  })
  await act()
}

test('regression: an endpoint that is resumed before the fence stands is not sent to from both cells', async () => {
  const { clientKey, clientId, endpoint, there } = await storeMovable()
  const moving = moveClient({ ...there, knownMs: limitOf(1_500) })
  const resumed = onceMoveIs(clientId, 'CLOSING', () => setStatus(first.pool, endpoint, 'ACTIVE'))
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

/** The copy stands still, at the endpoints or at its commit, until it is let go on. */
async function holdCopies(at: 'insert into endpoints' | 'commit' = 'insert into endpoints') {
  const trigger =
    at === 'commit'
      ? 'constraint trigger wait_at_gate after insert on endpoints deferrable initially deferred'
      : 'trigger wait_at_gate before insert on endpoints'
  await seventh.pool.query(
    `create table gate (is_open boolean);
     create function wait_at_gate() returns trigger language plpgsql as $$ begin
       while not exists (select from gate) loop perform pg_sleep(0.02); end loop;
       return new; end $$;
     create ${trigger} for each row execute function wait_at_gate()`,
  )
  return {
    isReached: () => until('the copy is there', () => isHeld(`${at}%`)),
    open: () => seventh.pool.query('insert into gate values (true)'),
    remove: () => seventh.pool.query('drop table gate; drop function wait_at_gate cascade'),
  }
}

/** Whether a session of a move stands at the gate in such a statement. */
async function isHeld(statement: string): Promise<boolean> {
  const { rowCount } = await first.pool.query(
    `select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'
       and application_name = 'paybell move' and query like $1`,
    [statement],
  )
  return rowCount !== 0
}

test('regression: an undo while the copy runs changes nothing, and says that the move is at work', async () => {
  const { clientId, endpoint, there } = await storeMovable()
  const gate = await holdCopies()
  try {
    const moving = moveClient(there)
    await gate.isReached()
    const hasty = { ...there, waitMsMax: 0 }
    await assert.rejects(undoMove(hasty), /another run/)
    await assert.rejects(moveClient(hasty), /another run/)
    await gate.open()
    await moving
    assert.deepEqual(await placesOf(clientId, endpoint.endpointId), {
      source: { move: 'REMOVED', endpoints: [], pending: 0 },
      target: { move: null, endpoints: ['ACTIVE'], pending: 1 },
    })
  } finally {
    await gate.remove()
  }
})

test('regression: a client is moved by its id in capitals', async () => {
  const { clientId, endpoint, there } = await storeMovable()
  await moveClient({ ...there, clientId: clientId.toUpperCase() })
  const { target } = await placesOf(clientId, endpoint.endpointId)
  assert.deepEqual(target, { move: null, endpoints: ['ACTIVE'], pending: 1 })
})

async function placesOf(clientId: string, endpointId: string) {
  const lookAt = async ({ pool }: { pool: typeof first.pool }) => {
    const one = async (text: string, id: string) => (await pool.query(text, [id])).rows
    const moves = await one('select step from client_moves where client_id = $1', clientId)
    const endpoints = await one('select status from endpoints where id = $1', endpointId)
    const pending = await one('select from pending_deliveries where endpoint_id = $1', endpointId)
    return {
      move: moves[0]?.step ?? null,
      endpoints: endpoints.map(({ status }) => status),
      pending: pending.length,
    }
  }
  return { source: await lookAt(first), target: await lookAt(seventh) }
}

test('what was done to a client before the fence is in the other cell, and nothing is done after it', async () => {
  const { clientKey, clientId, there } = await storeMovable()
  const { rows: secrets } = await storeSecrets(first.pool, clientKey, 'a key', 2_000)
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

test('regression: a client whose secrets the other cell may not be able to read is not moved there', async () => {
  const { clientKey, clientId, there } = await storeMovable()
  await storeSecrets(first.pool, clientKey, 'a newer key/1')
  await assert.rejects(moveClient(there), /under master key a newer key, which the other cell/)
  const begun = await first.pool.query('select from client_moves where client_id = $1', [clientId])
  assert.equal(begun.rowCount, 0)
  await storeSecrets(
    seventh.pool,
    (await storeClient(seventh.pool)).clientKey,
    'a newer key/another mark',
  )
  await moveClient(there)
})

test('regression: a client is not moved to a cell that has used no master key yet', async () => {
  const { there } = await storeMovable()
  const { url: targetUrl } = await openCell({ after }, first, 9)
  await assert.rejects(moveClient({ ...there, toCell: 9, targetUrl }), /has no secret yet/)
})

test('regression: an endpoint that was resumed during the drain is active in the other cell', async () => {
  const { clientId, endpoint, there } = await storeMovable()
  const late = await storeEndpoint(first.pool, endpoint.clientKey, { status: 'PAUSED' })
  const moving = moveClient({ ...there, drainMs: limitOf(1_000) })
  await onceMoveIs(clientId, 'DRAINING', () => setStatus(first.pool, late, 'ACTIVE'))
  await moving
  const { rows } = await seventh.pool.query(
    'select status from endpoints where id = any($1::uuid[])',
    [[endpoint.endpointId, late.endpointId]],
  )
  assert.deepEqual(rows, [{ status: 'ACTIVE' }, { status: 'ACTIVE' }])
})

test('regression: a bulk job that begins after the drain was looked at stops the move', async () => {
  const { clientKey, clientId, endpoint, there } = await storeMovable()
  const moving = moveClient({ ...there, knownMs: limitOf(1_500) })
  const begun = onceMoveIs(clientId, 'CLOSING', () =>
    first.pool.query(
      `insert into job_items (client_key, delivery_id, endpoint_id, place, job_id)
       values ($1, $2, $3, 0, $4)`,
      [clientKey, randomUUID(), endpoint.endpointId, randomUUID()],
    ),
  )
  await assert.rejects(moving, /a bulk replay or cancellation/)
  await begun
  const { source, target } = await placesOf(clientId, endpoint.endpointId)
  assert.deepEqual(source, { move: null, endpoints: ['ACTIVE'], pending: 1 })
  assert.deepEqual(target, { move: null, endpoints: [], pending: 0 })
})

/** Ends the session of a move, as a server does that is stopped. */
async function endSession({ url }: { url: string }): Promise<void> {
  const { rowCount } = await first.pool.query(
    `select pg_terminate_backend(l.pid) from pg_locks l join pg_stat_activity a using (pid)
     where a.application_name = 'paybell move' and l.locktype = 'advisory'
       and l.classid::bigint % 1024 = (20546 + $1) % 1024
       and l.database = (select oid from pg_database where datname = current_database())`,
    [addressOf(url).cell],
  )
  assert.equal(rowCount, 1)
}

for (const [name, end] of [
  ['source', first],
  ['target', seventh],
] as const) {
  test(`regression: a move that loses its session at the ${name} while it copies is undone whole`, async () => {
    const { clientId, endpoint, there } = await storeMovable()
    const gate = await holdCopies()
    try {
      const moving = assert.rejects(moveClient(there), /terminat|connection error/)
      await gate.isReached()
      await endSession(end)
      await gate.open()
      await moving
      assert.deepEqual(await placesOf(clientId, endpoint.endpointId), {
        source: { move: null, endpoints: ['ACTIVE'], pending: 1 },
        target: { move: null, endpoints: [], pending: 0 },
      })
    } finally {
      await gate.remove()
    }
  })
}

test('regression: a commit whose answer was lost is looked for, and the move goes on', async (t) => {
  const { clientId, endpoint, there } = await storeMovable()
  const proxy = await startTcpProxy(t, seventh.url)
  // The connection breaks while the copy commits.
  const gate = await holdCopies('commit')
  try {
    const moving = moveClient({ ...there, targetUrl: proxy.url })
    await gate.isReached()
    proxy.cut()
    await until('the move waits for the session that commits', async () => {
      const { rows } = await first.pool.query(
        `select pid from pg_stat_activity where datname = current_database()
           and application_name = 'paybell move' and query like '%pg_try_advisory_lock%'`,
      )
      return rows.length !== 0
    })
    await gate.open()
    await moving
    assert.deepEqual(await placesOf(clientId, endpoint.endpointId), {
      source: { move: 'REMOVED', endpoints: [], pending: 0 },
      target: { move: null, endpoints: ['ACTIVE'], pending: 1 },
    })
  } finally {
    await gate.remove()
  }
})
