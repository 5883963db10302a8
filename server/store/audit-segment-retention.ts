// Segments whose rows retention drops. Rows go by the month of their ids and segments by the order of commit, so a
// segment may have rows of two months: it goes with the earlier one, as a whole.

import type { Db } from './db.ts'
import { CLOCKS_APART_MS, idFloor } from './stretches.ts'

/** The last segment that has a row from before this instant; null: none has. */
export async function findLastSegmentOf(db: Db, endsAt: Date): Promise<number | null> {
  // Rows are sealed soon after their ids were made; those of long transactions are looked for.
  const { rows } = await db.query<{ last: number | null }>({
    text: `with usual as (
             select coalesce(max(segment), 0) as segment from audit_segments where sealed_at < $1
           ), late as (
             select max(a.place) as place from audit a
             where a.id < $2::uuid
               and a.place >= coalesce((select to_place from audit_segments s join usual using (segment)), 0)
           )
           select nullif(greatest(usual.segment, (select s.segment from audit_segments s
             where s.from_place <= late.place order by s.segment desc limit 1)), 0) as last
           from usual, late`,
    values: [new Date(endsAt.getTime() + CLOCKS_APART_MS), idFloor(endsAt.getTime())],
  })
  return rows[0]?.last ?? null
}

/** Up to this segment, heads are all that stays. Returns how many segments lost the list of their rows. */
export async function forgetRowDigests(db: Db, through: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'forget-row-digests',
    text: `update audit_segments set row_digests = null
           where segment <= $1 and row_digests is not null`,
    values: [through],
  })
  return rowCount ?? 0
}
