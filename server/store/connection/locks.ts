// Every advisory lock of Paybell, by name, and no number of one anywhere else: a test holds it. They have
// two integers, a class of the cell's own and an id. PostgreSQL keeps such locks apart from those of one
// bigint, which payments are locked by (store/payments/payments.ts): the two can never meet.

import type { Db } from './db.ts'

/** The cell of this session, as store/connection/session.ts has set it: two cells of one database share no lock. */
const CELL = `current_setting('paybell.cell')::int`

/** "PB" in ASCII is the class of the first cell; the others follow it. */
const LOCK_CLASS = `${20_546} + ${CELL}`

export interface NamedLock {
  readonly id: number
  /** The one number that version 0.1.0, which knows only the first cell, takes instead. */
  readonly former: number
}

/**
 * While processes are replaced one by one, those of 0.1.0 run beside newer ones. The newer take the former
 * number as well, after the new one, so both exclude each other without a deadlock. It can go when
 * upgrades from 0.1.0 are no longer supported. Of the former numbers 797 has two uses: each may wait for the other,
 * for milliseconds. 796 was the number of ensure_audit_partitions, too, which takes none since migration
 * 0011, whichever version calls it: the consumer of NATS may hold it for as long as it likes.
 */
export const LOCKS = {
  /** Held by the process that consumes NATS, for as long as it does. */
  natsConsumer: { id: 1, former: 7_205_759_403_792_796 },
  /** Held while final_counts are summed up, or a day of them goes. */
  finalCounts: { id: 2, former: 7_205_759_403_792_797 },
  /** Held while operator keys are counted and added. */
  operatorKeys: { id: 3, former: 7_205_759_403_792_797 },
  /** Held while a signing key is made or retired. */
  signingKeys: { id: 4, former: 7_306_914 },
  /** Held while notices are decided on, or where they go is changed. */
  notices: { id: 5, former: 7_205_759_403_792_808 },
  /** Held while a segment of the audit is sealed. No earlier version takes it. */
  auditSeal: { id: 6, former: 7_205_759_403_792_809 },
  /** Held while the service's certificates are counted, added or changed; shared while an endpoint is saved that names
   *  one. No earlier version takes it. */
  clientCertificates: { id: 7, former: 7_205_759_403_792_810 },
} as const satisfies Readonly<Record<string, NamedLock>>

/**
 * The number of node-pg-migrate, of one bigint. It stays what it is, because every version takes it and two
 * versions must not migrate at once. The cells after the first have the numbers after it.
 */
export const MIGRATION_LOCK = 7_241_865_325_823_964

/** Moves of clients have a class of their own behind those of all cells, and the hash of the client's id. */
const MOVE_LOCK = `${20_546 + 1_024} + ${CELL}`

/** Signs of processes (decision 0089) have the class behind those, whatever their cell: numbers are drawn at random. */
const SIGN_LOCK = 20_546 + 2_048

/** The server that answers, by the moment of its start. */
export const SIGN_SERVER =
  '(extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint::text'

/** Takes the number `$1` for as long as the session lasts, and names it in the session's setting `$2`: in one statement,
 *  so that they are of one session. */
export const TAKE_SIGN = `select pg_try_advisory_lock(${SIGN_LOCK}, $1::int) as is_ours, server,
    set_config($2, concat_ws('/', server, $1::int), false) as name
  from (select ${SIGN_SERVER}) as s (server)`

/** Whether no other session has the number `key`. Shared, so that those who ask at once do not meet. */
export const IS_SIGN_FREE = `pg_try_advisory_xact_lock_shared(${SIGN_LOCK}, key)`

/** False when another session moves the client, or undoes its move. Held until the session ends. */
export function tryLockMove(db: Db, clientId: string): Promise<boolean> {
  return askFor(db, `pg_try_advisory_lock(${MOVE_LOCK}, uuid_hash($1::uuid))`, clientId)
}

/** Whether this session has that lock: a pooler may have put another one in its place. */
export function hasMoveLock(db: Db, clientId: string): Promise<boolean> {
  return askFor(
    db,
    `exists (select from pg_locks where ${IS_MOVE_LOCK} and pid = pg_backend_pid())`,
    clientId,
  )
}

/** The session that has it; undefined when none has. */
export async function findMoveLocker(db: Db, clientId: string): Promise<number | undefined> {
  const { rows } = await db.query<{ pid: number }>(
    `select pid from pg_locks where ${IS_MOVE_LOCK}`,
    [clientId],
  )
  return rows[0]?.pid
}

const IS_MOVE_LOCK = `locktype = 'advisory' and granted and objsubid = 2
  and database = (select oid from pg_database where datname = current_database())
  and classid::bigint = ${MOVE_LOCK} and objid::bigint = uuid_hash($1::uuid)::bigint & 4294967295`

/**
 * The hash that a payment is locked by. Its seed is the cell, as in record_payment: one id in two cells is
 * two payments.
 */
export function paymentLockOf(id: string): string {
  return `uuid_hash_extended(${id}, ${CELL})`
}

/** What holds one of these locks ends within milliseconds; a wait this long means that something is wrong. */
const WAIT_MS_MAX = 5_000

/** Waits for the lock, and holds it until the transaction ends. */
export async function takeLock(db: Db, lock: NamedLock, waitMsMax = WAIT_MS_MAX): Promise<void> {
  await db.query(`set local lock_timeout = ${waitMsMax}`)
  await db.query(lockStatement(lock))
}

/** As well as others that share it; who takes it alone waits until these transactions end, and they for that one. */
export async function shareLock(db: Db, lock: NamedLock): Promise<void> {
  await db.query(`set local lock_timeout = ${WAIT_MS_MAX}`)
  await db.query(`select pg_advisory_xact_lock_shared(${keyOf(lock)})`)
}

/** The same as a statement, for a transaction that is one string and sets a limit of its own. */
export function lockStatement(lock: NamedLock): string {
  return `select pg_advisory_xact_lock(${keyOf(lock)}),
    case when ${CELL} = 0 then pg_advisory_xact_lock(${lock.former}) end`
}

/** False when another transaction has it. Held until the transaction ends. */
export function tryLock(db: Db, lock: NamedLock): Promise<boolean> {
  return askFor(
    db,
    `pg_try_advisory_xact_lock(${keyOf(lock)})
       and (${CELL} <> 0 or pg_try_advisory_xact_lock(${lock.former}))`,
  )
}

/** False when another session has it. Held until the session ends. */
export function tryLockForSession(db: Db, lock: NamedLock): Promise<boolean> {
  return askFor(
    db,
    `pg_try_advisory_lock(${keyOf(lock)}) and (${CELL} <> 0 or pg_try_advisory_lock(${lock.former}))`,
  )
}

/** False when another session migrates. Held until it is given back, or the session ends. */
export function tryLockMigrations(db: Db): Promise<boolean> {
  return askFor(db, `pg_try_advisory_lock(${MIGRATION_LOCK} + ${CELL})`)
}

export async function unlockMigrations(db: Db): Promise<void> {
  await db.query(`select pg_advisory_unlock(${MIGRATION_LOCK} + ${CELL})`)
}

/** True for what `lock_timeout` has ended: another session has the lock, and nothing was changed. */
export function isLockTimeout(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === '55P03'
}

function keyOf({ id }: NamedLock): string {
  return `${LOCK_CLASS}, ${id}`
}

async function askFor(db: Db, condition: string, ...values: unknown[]): Promise<boolean> {
  const { rows } = await db.query<{ is_ours: boolean }>(`select ${condition} as is_ours`, values)
  return rows[0]?.is_ours === true
}
