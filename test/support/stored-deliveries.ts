// Rows put straight into the tables, for tests of single statements: a client, its endpoints, what they
// are owed, and a lease to hold it by.

import { randomBytes, randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { uuidAt } from '../../server/core/plain/uuid.ts'
import type { Db } from '../../server/store/connection/db.ts'
import type { AttemptRecord } from '../../server/store/owed/outcomes.ts'
import { until } from './until.ts'

export const STORED_AT = new Date('2026-03-02T09:30:00.400Z')

export async function storeClient(pool: Pool): Promise<{ clientKey: number; accountId: string }> {
  const accountId = randomUUID()
  const { rows } = await pool.query<{ client_key: number }>(
    `insert into clients (id, name, created_at) values ($1, 'Test', $2) returning client_key`,
    [randomUUID(), STORED_AT],
  )
  const clientKey = rows[0]?.client_key ?? 0
  await pool.query(`insert into accounts values ($1, $2, 'Main', $3)`, [
    clientKey,
    accountId,
    STORED_AT,
  ])
  return { clientKey, accountId }
}

/** An id of this moment, as those of events and of their deliveries are. */
export function idAt(at: Date): string {
  return uuidAt(at.getTime(), 0, randomBytes(8))
}

export interface StoredEndpoint {
  clientKey: number
  endpointId: string
  shard: number
}

/** A webhook of the account, or a subscription where none is given. */
export async function storeEndpoint(
  pool: Pool,
  clientKey: number,
  of: { accountId?: string; shard?: number; status?: string; changedAt?: Date } = {},
): Promise<StoredEndpoint> {
  const endpointId = randomUUID()
  const shard = of.shard ?? 7
  const status = of.status ?? 'ACTIVE'
  await pool.query(
    `insert into endpoints (client_key, id, kind, account_id, shard, url, href_hash, status,
       inactive_since, shared_key, created_at, changed_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, '\\x00', $10, $11)`,
    [
      clientKey,
      endpointId,
      of.accountId ? 'webhook' : 'subscription',
      of.accountId ?? null,
      shard,
      `https://receiver.test/${endpointId}`,
      Buffer.from(endpointId),
      status,
      status === 'ACTIVE' ? null : STORED_AT,
      STORED_AT,
      of.changedAt ?? STORED_AT,
    ],
  )
  return { clientKey, endpointId, shard }
}

export async function setStatus(pool: Pool, endpoint: StoredEndpoint, status: string) {
  await pool.query(
    `update endpoints set status = $3, inactive_since = $4 where client_key = $1 and id = $2`,
    [endpoint.clientKey, endpoint.endpointId, status, status === 'ACTIVE' ? null : STORED_AT],
  )
}

/** An event that is owed to no endpoint; tells its id. */
export async function storeEvent(
  db: Db,
  clientKey: number,
  of: { id?: string; paymentId?: string; sequence?: number; text?: string; at?: Date } = {},
): Promise<string> {
  const { sequence = 1, at = STORED_AT } = of
  const id = of.id ?? idAt(at)
  const kind = sequence === 1 ? 'payment.created' : 'payment.updated'
  await db.query(
    `insert into events (client_key, id, payment_id, account_id, sequence, kind, text, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      clientKey,
      id,
      of.paymentId ?? randomUUID(),
      randomUUID(),
      sequence,
      kind,
      of.text ?? '{}',
      at,
    ],
  )
  return id
}

export interface PendingColumns {
  id: string
  payment_id: string
  sequence: number
  next_attempt_at: Date | null
  attempts: number
  run_attempts: number
  first_attempt_at: Date | null
  first_failed_at: Date | null
  deadline_at: Date | null
  is_replay: boolean
  last_outcome: string | null
  last_status: number | null
}

/** A delivery that is due and was never attempted, unless the columns say otherwise. */
export async function storePending(
  pool: Pool,
  endpoint: StoredEndpoint,
  columns: Partial<PendingColumns> = {},
): Promise<{ id: string; paymentId: string }> {
  const row = {
    id: idAt(STORED_AT),
    payment_id: randomUUID(),
    sequence: 1,
    next_attempt_at: STORED_AT as Date | null,
    client_key: endpoint.clientKey,
    endpoint_id: endpoint.endpointId,
    shard: endpoint.shard,
    event_id: idAt(STORED_AT),
    account_id: randomUUID(),
    kind: 'payment.created',
    created_at: STORED_AT,
    ...columns,
  }
  const names = Object.keys(row)
  await pool.query(
    `insert into pending_deliveries (${names.join(', ')})
     values (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
    Object.values(row),
  )
  return { id: row.id, paymentId: row.payment_id }
}

/** Gives a shard an owner; returns the epoch. */
export async function holdShard(pool: Pool, shard = 7): Promise<number> {
  const { rows } = await pool.query<{ epoch: number }>(
    `update leases set owner = $2, epoch = epoch + 1, expires_at = 'infinity'
     where shard = $1 returning epoch`,
    [shard, randomUUID()],
  )
  return rows[0]?.epoch ?? 0
}

type Attempted = 'clientKey' | 'id' | 'shard' | 'epoch' | 'endpointId' | 'paymentId'

/** Of a first attempt that delivered, unless it says otherwise. */
export function attemptRecord(
  of: Pick<AttemptRecord, Attempted> & Partial<AttemptRecord>,
): AttemptRecord {
  const { attempt = 1, atMs = STORED_AT.getTime() } = of
  return {
    sequence: 1,
    attempt,
    runAttempt: attempt,
    atMs,
    durationMs: 5,
    outcome: 'answered',
    status: 200,
    excerpt: null,
    state: 'DELIVERED',
    nextAttemptAtMs: null,
    firstAttemptAtMs: atMs,
    firstFailedAtMs: null,
    deadlineAtMs: atMs + 1_000_000,
    supersedes: false,
    ...of,
  }
}

export async function readPending(pool: Pool): Promise<readonly PendingColumns[]> {
  return (await pool.query<PendingColumns>('select * from pending_deliveries order by id')).rows
}

export async function readFinal(
  pool: Pool,
): Promise<readonly { id: string; state: string; attempts: number; finished_at: Date }[]> {
  return (await pool.query('select * from final_deliveries order by id')).rows
}

/** Resolves when a statement with this name waits for a lock. */
export async function untilWaiting(pool: Pool, text: string): Promise<void> {
  await until(`something waits: ${text}`, async () => {
    const { rowCount } = await pool.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
         and query like '%' || $1 || '%' and pid <> pg_backend_pid()`,
      [text],
    )
    return rowCount !== 0
  })
}
