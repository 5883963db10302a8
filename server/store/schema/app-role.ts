// A database role for the service apart from the one that owns the schema. It works with every table, but
// with the audit only as far as adding and reading: an attacker who takes the service over cannot rewrite what it
// did. Safe to repeat; every migration is followed by it, because new tables need their grants.

import pg from 'pg'
import { schemaOfCell } from '../../core/network/cell.ts'
import { createClient, type Db } from '../connection/db.ts'
import { LOCK_TIMEOUT, LOCK_TRIES, tryForLocks } from '../connection/lock-tries.ts'
import { addressOf } from '../connection/session.ts'

/** They act for the audit with its owner's rights, and no role has them by itself (migrations/0037). */
const AUDIT_FUNCTIONS = [
  'carry_audit_over(bigint, integer)',
  'ensure_audit_partition(timestamptz, bigint)',
  'ensure_audit_partitions(timestamptz)',
  'inspect_audit_default(integer)',
]

/** Grants the role what the service needs. The role exists, and we are a member of it or a superuser. */
export async function grantToAppRole(url: string, role: string): Promise<void> {
  const client = createClient(url, 'paybell migrate')
  await client.connect()
  try {
    await client.query(`set lock_timeout = '${LOCK_TIMEOUT}'`)
    await tryForLocks(client, 'the role could not be given its tables', LOCK_TRIES, () =>
      grantInTransaction(client, role, schemaOfCell(addressOf(url).cell)),
    )
  } finally {
    await client.end()
  }
}

/** The role of the sandbox's own database, with a password for this run alone; returns its address. */
export async function openAsAppRole(url: string, role: string, password: string): Promise<string> {
  const client = createClient(url, 'paybell migrate')
  await client.connect()
  try {
    const name = pg.escapeIdentifier(role)
    const { rowCount } = await client.query('select from pg_roles where rolname = $1', [role])
    if (rowCount === 0) await client.query(`create role ${name}`)
    await client.query(`alter role ${name} login password ${pg.escapeLiteral(password)}`)
  } finally {
    await client.end()
  }
  await grantToAppRole(url, role)
  const opened = new URL(url)
  opened.username = role
  opened.password = password
  return opened.href
}

async function grantInTransaction(client: pg.Client, role: string, schema: string) {
  await client.query('begin')
  try {
    await checkRole(client, role)
    await grantAll(client, pg.escapeIdentifier(role), schema)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}

async function checkRole(db: Db, role: string): Promise<void> {
  const { rows } = await db.query<{ is_super: boolean; is_owner: boolean }>({
    text: `select r.rolsuper as is_super,
             pg_has_role(r.oid, (select relowner from pg_class where oid = 'audit'::regclass), 'member')
               as is_owner
           from pg_roles r where rolname = $1`,
    values: [role],
  })
  const [found] = rows
  if (found === undefined) {
    throw new Error(`the database has no role of this name: create role ${role} login, then again`)
  }
  // Grants would say nothing about a role that may do everything anyway.
  if (found.is_super || found.is_owner) {
    throw new Error('the role owns the audit, or is a superuser: the service needs one of its own')
  }
}

async function grantAll(db: Db, role: string, schema: string): Promise<void> {
  for (const statement of [
    `grant usage, create on schema ${schema} to ${role}`,
    `grant select, insert, update, delete on all tables in schema ${schema} to ${role}`,
    `grant usage, select on all sequences in schema ${schema} to ${role}`,
    `revoke all on migrations, migration_hashes from ${role}`,
    `grant select on migrations, migration_hashes to ${role}`,
  ]) {
    await db.query(statement)
  }
  const { rows } = await db.query<{ name: string; is_audit: boolean; is_divided: boolean }>(
    `
    select c.oid::regclass::text as name,
      'audit'::regclass in (c.oid, i.inhparent) as is_audit,
      (c.relkind = 'p' or i.inhparent is not null) and c.relowner <> $1::regrole as is_divided
    from pg_class c left join pg_inherits i on i.inhrelid = c.oid
    where c.relnamespace = '${schema}'::regnamespace and c.relkind in ('r', 'p')`,
    [role],
  )
  const lines = rows.flatMap(({ name, is_audit: isAudit, is_divided: isDivided }) => {
    // Partitions of the audit are reached through their parent.
    if (isAudit) return [`revoke all on ${name} from ${role}`]
    // Only an owner makes and drops partitions, and the service does so every day. Where it is the
    // owner already, the table is not locked for nothing.
    return isDivided ? [`alter table ${name} owner to ${role}`] : []
  })
  // One by one: where Citus has distributed the cell, it hands a text on to the nodes whole, as one command.
  for (const statement of [
    ...lines,
    `grant select, insert on audit to ${role}`,
    `grant execute on function ${AUDIT_FUNCTIONS.join(', ')} to ${role}`,
  ]) {
    await db.query(statement)
  }
}
