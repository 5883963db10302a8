// The audit table: what was done in the operator's name, by whom and to what. Rows are added and read,
// nothing else: the database itself refuses to change or remove one.

import { randomBytes } from 'node:crypto'
import { uuidAt, uuidFloor } from '../../core/plain/uuid.ts'
import type { Db } from '../connection/db.ts'
import { column } from '../sql/columns.ts'
import { idsWithin, readStretches } from '../sql/stretches.ts'

export interface AuditChange {
  field: string
  before: string | null
  after: string | null
}

export interface AuditEntry {
  /** `operator` for the key of PAYBELL_OPERATOR_KEY, otherwise the name of the key. */
  actor: string
  /** `noun.verb`, such as `client.create`. */
  action: string
  /** What it was done to: `client:<id>`. */
  object: string
  requestId: string
  at: Date
  /** What it changed, where that is small. */
  changes?: readonly AuditChange[] | undefined
  /** Given where the same entry may be written twice: the second time adds nothing. */
  id?: string
}

export interface AuditRow extends AuditEntry {
  id: string
  /** Where it stands in the order of commit. */
  place: string
}

export interface AuditFilter {
  actor?: string | undefined
  action?: string | undefined
  object?: string | undefined
  /** From this instant on. */
  from?: Date | undefined
  /** Before this instant. */
  to?: Date | undefined
  /** False: without the payments that were written, which are nearly all rows. */
  hasPaymentWrites?: boolean | undefined
}

let counted = 0
/** Drawn many at a time: a call for each id took longer than all else that an entry needs. */
let dice = Buffer.alloc(0)

/** Ids take their time from their entries, to the millisecond: a range of time is a range of ids. */
export function auditId(at: Date): string {
  counted = (counted + 1) & 0xfff
  if (dice.length === 0) dice = randomBytes(4_096)
  const random8 = dice.subarray(0, 8)
  dice = dice.subarray(8)
  return uuidAt(at.getTime(), counted, random8)
}

/** One entry that says what it changed; the many that do not are written by insertAudit. */
export async function insertAuditWithChanges(db: Db, entry: AuditEntry): Promise<void> {
  await db.query({
    text: `insert into audit (id, at, actor, action, object, request_id, changes)
           values ($1, $2, $3, $4, $5, $6, $7)`,
    values: [
      entry.id ?? auditId(entry.at),
      entry.at,
      entry.actor,
      entry.action,
      entry.object,
      entry.requestId,
      JSON.stringify(entry.changes),
    ],
  })
}

/** In the transaction of what it tells of: both are committed, or neither. */
export async function insertAudit(
  db: Db,
  entries: AuditEntry | readonly AuditEntry[],
): Promise<void> {
  const given = [entries].flat() as readonly AuditEntry[]
  if (given.length === 0) return
  const mayBeThere = given.some((row) => row.id !== undefined)
  // Adding a row that another transaction is just adding waits for its end: so in one order everywhere,
  // so that two batches whose lines travel in the same two transactions do not wait for each other.
  const rows = mayBeThere ? given.toSorted(byId) : given
  await db.query({
    name: mayBeThere ? 'insert-audit-once' : 'insert-audit',
    text: `insert into audit (id, at, actor, action, object, request_id)
           select * from unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[], $5::text[],
             $6::uuid[])
           ${mayBeThere ? 'on conflict (id) do nothing' : ''}`,
    values: [
      column('uuid', rows, (row) => row.id ?? auditId(row.at)),
      column('timestamptz', rows, (row) => row.at.getTime()),
      column('text', rows, (row) => row.actor),
      column('text', rows, (row) => row.action),
      column('text', rows, (row) => row.object),
      column('uuid', rows, (row) => row.requestId),
    ],
  })
}

function byId(one: AuditEntry, other: AuditEntry): number {
  return (one.id ?? '') < (other.id ?? '') ? -1 : 1
}

interface StoredRow extends Omit<AuditRow, 'requestId' | 'changes'> {
  request_id: string
  changes: string | null
}

/** Newest first, those before the id `beforeId` if it is given. */
export async function listAudit(
  db: Db,
  filter: AuditFilter,
  page: { limit: number; beforeId: string | null },
): Promise<readonly AuditRow[]> {
  const values: unknown[] = [page.limit]
  const conditions: string[] = []
  // Each condition only where it is asked for: the planner then knows which index serves.
  const where = (value: unknown, condition: (place: string) => string) => {
    if (value === undefined || value === null) return
    values.push(value)
    conditions.push(condition(`$${values.length}`))
  }
  where(filter.actor, (place) => `actor = ${place}`)
  where(filter.action, (place) => `action = ${place}`)
  where(filter.object, (place) => `object = ${place}`)
  where(filter.from && uuidFloor(filter.from.getTime()), (place) => `id >= ${place}::uuid`)
  where(filter.to && uuidFloor(filter.to.getTime()), (place) => `id < ${place}::uuid`)
  where(page.beforeId, (place) => `id < ${place}::uuid`)
  // As the index has it (migrations/0022), so that the planner sees that it serves.
  if (filter.hasPaymentWrites === false) {
    conditions.push(`action not in ('payment.put', 'payment.batch')`)
  }
  const found: AuditRow[] = []
  // From the newest months back: rows are never moved, so none is missed between two looks.
  for (const stretch of await readStretches(db, 'audit')) {
    if (filter.from !== undefined && stretch.toMs <= filter.from.getTime()) break
    if (found.length >= page.limit) break
    values[0] = page.limit - found.length
    const { rows } = await db.query<StoredRow>({
      text: `select id, at, actor, action, object, request_id, changes, place::text from audit
             where ${[...conditions, idsWithin(stretch, 'id')].join(' and ')}
             order by id desc limit $1`,
      values,
    })
    found.push(
      ...rows.map(({ request_id: requestId, changes, ...row }) => ({
        ...row,
        requestId,
        ...(changes === null ? {} : { changes: JSON.parse(changes) as AuditChange[] }),
      })),
    )
  }
  return found
}
