// The payments table: each payment as it is now. Writes of one payment are serialised by a lock on
// its id that lasts to the end of the transaction, so sequence numbers never fork.

import type { Pool } from 'pg'
import type { StoredPayment } from '../../core/payments/payment-change.ts'
import type { Db } from '../connection/db.ts'
import { paymentLockOf } from '../connection/locks.ts'
import { column } from '../sql/columns.ts'
import { hideLength } from '../sql/planner.ts'
import { idsWithin, readStretches } from '../sql/stretches.ts'
import { isWhole } from '../sql/whole-text.ts'

export interface LockedPayment extends StoredPayment {
  clientKey: number
  id: string
}

interface PaymentRow {
  client_key: number
  id: string
  account_id: string
  sequence: number
  version: number | null
  text: string
  document_hash: Buffer | null
}

/** What is ours to the end of the transaction, and the ids that another transaction holds. */
export interface TriedPayments {
  stored: Map<string, LockedPayment>
  busy: Set<string>
}

/**
 * Locks those of the ids that are free, whether the payments exist yet or not, then reads those that do,
 * other clients' included. It never waits, so it cannot deadlock either. Advisory locks: a row lock would
 * write to the row, and cannot lock what is not there.
 */
export async function tryLockPayments(
  db: Db,
  paymentIds: readonly string[],
): Promise<TriedPayments> {
  const ids = column('uuid', paymentIds, (id) => id)
  const locking = db.query<{ id: string }>({
    name: 'try-lock-payments',
    text: `select id from unnest($1::uuid[]) as id
           where not pg_try_advisory_xact_lock(${paymentLockOf('id')})`,
    values: [ids],
  })
  const [{ rows: busy }, stored] = await Promise.all([locking, readLocked(db, ids)])
  return { stored, busy: new Set(busy.map(({ id }) => id)) }
}

/**
 * The same for those that wait for their turn, as long as a statement may take (`isWaitOver`). In one order,
 * so that two that wait for several do not wait for each other.
 */
export async function lockPayments(
  db: Db,
  paymentIds: readonly string[],
): Promise<Map<string, LockedPayment>> {
  const ids = column('uuid', paymentIds, (id) => id)
  const locking = db.query({
    name: 'lock-payments',
    text: `select pg_advisory_xact_lock(hash) from (
             select distinct ${paymentLockOf('id')} as hash
             from unnest($1::uuid[]) as id order by 1) as ordered`,
    values: [ids],
  })
  const [, stored] = await Promise.all([locking, readLocked(db, ids)])
  return stored
}

/** The wait for a lock was broken off: by the statement's time, or by a lock_timeout. */
export function isWaitOver(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code
  return code === '57014' || code === '55P03'
}

/** Sent along with the locks, and run after them: its snapshot is taken when they are ours. */
async function readLocked(db: Db, ids: unknown): Promise<Map<string, LockedPayment>> {
  const { rows } = await db.query<PaymentRow>({
    name: 'read-locked-payments',
    text: `select client_key, id, account_id, sequence, version, text, document_hash
           from payments where id = any(${hideLength('$1', 'uuid[]')})`,
    values: [ids],
  })
  return new Map(rows.map((row) => [row.id, toLocked(row)]))
}

function toLocked(row: PaymentRow): LockedPayment {
  return {
    clientKey: row.client_key,
    id: row.id,
    accountId: row.account_id,
    sequence: row.sequence,
    version: row.version,
    text: row.text,
    documentHash: row.document_hash,
  }
}

/** For payments of which nothing else has changed. */
export async function raiseVersions(
  db: Db,
  payments: readonly LockedPayment[],
  now: Date,
): Promise<void> {
  if (payments.length === 0) return
  await db.query({
    name: 'raise-versions',
    text: `update payments p set version = given.version, changed_at = $4
           from unnest(${hideLength('$1', 'int[]')}, $2::uuid[], $3::bigint[])
             as given (client_key, id, version)
           where p.id = given.id and p.client_key = given.client_key`,
    values: [
      column('int', payments, (payment) => payment.clientKey),
      column('uuid', payments, (payment) => payment.id),
      column('bigint', payments, (payment) => payment.version),
      now,
    ],
  })
}

/** The client's most recently changed payment, or null when it has none. */
export async function readLatestPaymentText(pool: Pool, clientKey: number): Promise<string | null> {
  // The newest event names it by index; only a client without any recent event needs the sort.
  for (const stretch of await readStretches(pool, 'events')) {
    const { rows } = await pool.query<{ text: string }>(
      `select p.text from events e
       join payments p on p.client_key = e.client_key and p.id = e.payment_id
       where e.client_key = $1 and ${idsWithin(stretch, 'e.id')} and ${isWhole('p.text')}
       order by e.id desc limit 1`,
      [clientKey],
    )
    if (rows[0] !== undefined) return rows[0].text
  }
  const { rows } = await pool.query<{ text: string }>(
    `select text from payments where client_key = $1 and ${isWhole('text')}
     order by changed_at desc, id limit 1`,
    [clientKey],
  )
  return rows[0]?.text ?? null
}

export interface PaymentView {
  id: string
  clientId: string
  clientKey: number
  accountId: string
  version: number | null
  sequence: number
  acceptedAt: Date
  text: string
}

interface PaymentViewRow {
  id: string
  client_id: string
  client_key: number
  account_id: string
  version: number | null
  sequence: number
  accepted_at: Date
  text: string
}

const VIEW_COLUMNS = `p.id, c.id as client_id, p.client_key, p.account_id, p.version, p.sequence,
  p.accepted_at, p.text`

/** `clientKey` null: of any client. */
export async function readPayment(
  db: Db,
  paymentId: string,
  clientKey: number | null,
): Promise<PaymentView | null> {
  const { rows } = await db.query<PaymentViewRow>({
    name: 'read-payment',
    text: `select ${VIEW_COLUMNS} from payments p join clients c using (client_key)
           where p.id = $1 and ($2::int is null or p.client_key = $2) limit 1`,
    values: [paymentId, clientKey],
  })
  return rows[0] ? toView(rows[0]) : null
}

function toView(row: PaymentViewRow): PaymentView {
  return {
    id: row.id,
    clientId: row.client_id,
    clientKey: row.client_key,
    accountId: row.account_id,
    version: row.version,
    sequence: row.sequence,
    acceptedAt: row.accepted_at,
    text: row.text,
  }
}
