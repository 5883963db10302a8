// Segments whose rows retention drops. Rows go by the month of their ids and segments by the order of commit, so a
// segment may have rows of two months: it goes with the earlier one, as a whole.

import type { Db } from './db.ts'
import { idFloor } from './stretches.ts'

/** The last segment that has a row from before this instant; null: none has. */
export async function findLastSegmentOf(db: Db, endsAt: Date): Promise<number | null> {
  // What was sealed before is of that time. What was made before and sealed later is looked for.
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
    values: [endsAt, idFloor(endsAt.getTime())],
  })
  return rows[0]?.last ?? null
}

export async function isRowSealed(db: Db, id: string): Promise<boolean> {
  const { rows } = await db.query<{ is_sealed: boolean }>({
    name: 'is-audit-row-sealed',
    text: `select place < coalesce((select to_place from audit_segments
             order by segment desc limit 1), 0) as is_sealed
           from audit where id = $1`,
    values: [id],
  })
  return rows[0]?.is_sealed === true
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
