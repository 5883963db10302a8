// Clients that are moved to another cell: the row that says so, and what stops and starts their deliveries. Each function
// is one step of operations/clients/move-client.ts. What keeps writes for them out is in store/moves/move-fence.ts.

import { hasLeft, type MoveState } from '../../core/network/client-move.ts'
import type { Db } from '../connection/db.ts'
import { saveStatus } from '../endpoints/endpoints.ts'
import { releaseDeliveriesOf } from '../owed/deliveries.ts'
import { probeResumed } from '../owed/retries.ts'
import { column } from '../sql/columns.ts'

export interface ClientMove {
  clientKey: number
  clientId: string
  toCell: number
  toAddress: string
  state: MoveState
  activeEndpoints: readonly string[]
}

interface MoveRow {
  client_key: number
  client_id: string
  to_cell: number
  to_address: string
  step: MoveState
  active_endpoints: string[]
}

const MOVES = `select client_key, client_id, to_cell, to_address, step, active_endpoints
  from client_moves`

/** All of them: few, and most cells have none. */
export async function readClientMoves(db: Db): Promise<readonly ClientMove[]> {
  const { rows } = await db.query<MoveRow>({ name: 'read-moves', text: MOVES })
  return rows.map(toMove)
}

export async function findMoveOf(db: Db, clientKey: number): Promise<ClientMove | null> {
  return findMove(db, 'client_key = $1', clientKey)
}

/** `clientId` in any case. */
export async function findClientMove(db: Db, clientId: string): Promise<ClientMove | null> {
  return findMove(db, 'client_id = $1::uuid', clientId)
}

/** The same, until the end of the transaction as it is now. */
export async function lockClientMove(db: Db, clientId: string): Promise<ClientMove | null> {
  return findMove(db, 'client_id = $1::uuid for update', clientId)
}

/** The move of a client that has left, by an endpoint that it had then. */
export async function findMoveOfEndpoint(db: Db, endpointId: string): Promise<ClientMove | null> {
  return findMove(db, `step in ('MOVED', 'REMOVED') and endpoints @> array[$1::uuid]`, endpointId)
}

/** Who has left, and to which cell. The last to leave come first. */
export async function readLeft(
  db: Db,
  max: number,
): Promise<readonly { kind: 'clients' | 'accounts'; id: string; cell: number }[]> {
  const { rows } = await db.query<{ kind: 'clients' | 'accounts'; id: string; cell: number }>(
    `(select 'clients' as kind, client_id as id, to_cell as cell from client_moves
       where step in ('MOVED', 'REMOVED') order by moved_at desc, client_id limit $1)
     union all
     (select 'accounts', a.id, m.to_cell from client_moves m join accounts a using (client_key)
       where m.step in ('MOVED', 'REMOVED') order by m.moved_at desc, a.id limit $1)`,
    [max],
  )
  return rows
}

async function findMove(db: Db, where: string, value: unknown): Promise<ClientMove | null> {
  const { rows } = await db.query<MoveRow>(`${MOVES} where ${where}`, [value])
  return rows[0] ? toMove(rows[0]) : null
}

function toMove(row: MoveRow): ClientMove {
  return {
    clientKey: row.client_key,
    clientId: row.client_id,
    toCell: row.to_cell,
    toAddress: row.to_address,
    state: row.step,
    activeEndpoints: row.active_endpoints,
  }
}

export interface MoveToBegin {
  clientKey: number
  clientId: string
  toCell: number
  toAddress: string
}

/** Notes the move, and stops all endpoints that are active. In a transaction. */
export async function beginMove(db: Db, move: MoveToBegin, now: Date): Promise<void> {
  await db.query(
    `insert into client_moves (client_key, client_id, to_cell, to_address, step, active_endpoints,
       started_at)
     values ($1, $2, $3, $4, 'DRAINING', '{}', $5)`,
    [move.clientKey, move.clientId, move.toCell, move.toAddress, now],
  )
  await pauseAll(db, move.clientKey, now)
}

/** Notes those that it stops, so that they go on afterwards. False when none was active any more. In a transaction. */
export async function pauseAll(db: Db, clientKey: number, now: Date): Promise<boolean> {
  const { rows } = await db.query<{ id: string }>(
    `update endpoints set status = 'PAUSED', inactive_since = $2, changed_at = $2
     where client_key = $1 and status = 'ACTIVE' and deleted_at is null returning id`,
    [clientKey, now],
  )
  if (rows.length === 0) return false
  await db.query(
    `update client_moves set active_endpoints = active_endpoints || $2::uuid[]
     where client_key = $1`,
    [clientKey, column('uuid', rows, ({ id }) => id)],
  )
  return true
}

/** What was stopped goes on: the time in between does not count against the 7 days. In a transaction. */
export async function resumeAll(
  db: Db,
  clientKey: number,
  endpointIds: readonly string[],
  now: Date,
): Promise<void> {
  const { rows } = await db.query<{ id: string; inactive_since: Date }>(
    `select id, inactive_since from endpoints
     where client_key = $1 and id = any($2::uuid[]) and status = 'PAUSED' and deleted_at is null
     order by id for no key update`,
    [clientKey, column('uuid', endpointIds, (id) => id)],
  )
  for (const { id, inactive_since: since } of rows) {
    await saveStatus(db, clientKey, id, { status: 'ACTIVE', inactiveSince: null }, now)
    await probeResumed(db, clientKey, id, now)
    await releaseDeliveriesOf(db, clientKey, id, since, now)
  }
}

/** Notes what follows a state. Throws where the move is not in it: then another has changed it, and nothing may be removed. */
export async function advanceMove(
  db: Db,
  { clientKey, state }: Pick<ClientMove, 'clientKey' | 'state'>,
  to: MoveState,
  now: Date,
): Promise<void> {
  const { rowCount } = await db.query(
    `update client_moves set step = $3, moved_at = case when $4 then coalesce(moved_at, $5) end,
       endpoints = case when $3 = 'MOVED' then array(
         select id from endpoints e where e.client_key = $1) else endpoints end
     where client_key = $1 and step = $2`,
    [clientKey, state, to, hasLeft(to), now],
  )
  if (rowCount !== 1) throw new Error(`the move is no longer ${state}: it was changed by another`)
}

export async function forgetMove(db: Db, clientKey: number): Promise<void> {
  await db.query('delete from client_moves where client_key = $1', [clientKey])
}

/** What the client still has to wait for: jobs that act on its deliveries. */
export async function countJobItems(db: Db, clientKey: number): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'select count(*)::int as count from job_items where client_key = $1',
    [clientKey],
  )
  return rows[0]?.count ?? 0
}

/** Whether something can be sent to it. */
export async function hasActiveEndpoint(db: Db, clientKey: number): Promise<boolean> {
  const { rows } = await db.query<{ has: boolean }>(
    `select exists (select from endpoints
       where client_key = $1 and status = 'ACTIVE' and deleted_at is null) as has`,
    [clientKey],
  )
  return rows[0]?.has === true
}
