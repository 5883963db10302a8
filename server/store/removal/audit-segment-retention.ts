// Segments whose rows retention drops. Rows go by the month of their ids and segments by the order of commit, so a
// segment may have rows of two months: what stays of it is proven by the list of its rows.

import type { Db } from '../connection/db.ts'
import { idFloor } from '../sql/stretches.ts'

export interface DropRow {
  through: number
  jws: string
}

export async function insertDrop(db: Db, { through, jws }: DropRow): Promise<void> {
  await db.query({
    name: 'insert-audit-drop',
    text: `insert into audit_drops (through, jws) values ($1, $2)`,
    values: [through, jws],
  })
}

/** The one that goes furthest: those before it are within it. */
export async function readLastDrop(db: Db): Promise<DropRow | null> {
  const { rows } = await db.query<DropRow>({
    name: 'read-last-audit-drop',
    text: 'select through, jws from audit_drops order by through desc limit 1',
  })
  return rows[0] ?? null
}

export interface LastOfMonths {
  /** Null: the row is not sealed yet. */
  segment: { number: number; digest: string; sealedAt: Date } | null
}

/**
 * The last row from before this instant that no drop up to the segment `after` covers, and the segment that it is in; null:
 * there is no such row. By the rows themselves, not by the time at which segments were sealed: that is some clock's.
 * The first time all rows of the months are read, later those alone that came since.
 */
export async function findLastSegmentOf(
  db: Db,
  endsAt: Date,
  after: number,
): Promise<LastOfMonths | null> {
  const { rows } = await db.query<{
    place: string | null
    segment: number | null
    digest: Buffer
    sealed_at: Date
  }>({
    text: `with last as (select max(place) as place from audit where id < $1::uuid and place > 0
             and place >= coalesce((select to_place from audit_segments where segment = $2), 0))
           select last.place::text, s.segment, s.digest, s.sealed_at from last
           left join lateral (select segment, digest, sealed_at, to_place from audit_segments
             where from_place <= last.place order by segment desc limit 1) s
             on s.to_place > last.place`,
    values: [idFloor(endsAt.getTime()), after],
  })
  const [row] = rows
  if (row === undefined || row.place === null) return null
  const { segment: number, digest, sealed_at: sealedAt } = row
  return {
    segment: number === null ? null : { number, digest: digest.toString('hex'), sealedAt },
  }
}

/**
 * Of segments that have no row any more, heads are all that stays. One that has some keeps its list of rows, and so do
 * those after it. Returns how many lists went.
 */
export async function forgetRowDigests(db: Db, through: number): Promise<number> {
  const { rowCount } = await db.query({
    text: `with left_over as (
             select min(place) as place from audit
             where place >= (select from_place from audit_segments where row_digests is not null
                             order by segment limit 1)
               and place < (select to_place from audit_segments where segment = $1)
           )
           update audit_segments s set row_digests = null from left_over
           where s.segment <= $1 and s.row_digests is not null
             and (left_over.place is null or s.to_place <= left_over.place)`,
    values: [through],
  })
  return rowCount ?? 0
}
