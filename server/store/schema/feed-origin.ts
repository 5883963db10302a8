// Where the places of the feed come from: transaction ids and the timeline of this cluster, plus a shift
// (migrations/0012). A promoted standby and a return to an earlier point in time begin a new timeline, and
// places rise by themselves. Another cluster, to which a dump was restored or which pg_upgrade has made,
// counts both from the beginning: events written there would stand before places that readers have passed
// long ago. So the cluster's identity is kept beside the shift, and when it is another one, the shift is
// raised: places only ever rise.

import type { Db } from '../connection/db.ts'

/**
 * How far above the highest place known the new ones begin. Readers may be ahead of what was restored,
 * by as many transactions as were lost: a million millions would take three years at 10,000 a second.
 */
const LEAP = 2n ** 40n
const LOCK_TIMEOUT = '5s'

interface Identity {
  system: string
  timeline: number
}

/** In a transaction of its own. Returns true when the database has moved and the feed was carried over. */
export async function carryFeedOver(db: Db): Promise<boolean> {
  if (!(await readIdentity(db)).hasMoved) return false
  // Waits for every transaction that writes events, and keeps new ones out: none keeps an old
  // position. Statements that were prepared earlier are planned again.
  await db.query(`set local lock_timeout = '${LOCK_TIMEOUT}'`)
  await db.query('lock table events in access exclusive mode')
  // Asked again: another process may have done it while we waited.
  const { identity, hasMoved } = await readIdentity(db)
  if (!hasMoved) return false
  const shift = (await readHighestPlace(db)) + LEAP - (await readTransactionId(db))
  // Numbers of our own making: the default of a column takes no parameters.
  await db.query(
    `alter table events alter column place set default feed_place(${shift}, ${identity.timeline})`,
  )
  // The audit's places are the same numbers.
  await db.query('select carry_audit_over($1, $2)', [String(shift), identity.timeline])
  await db.query('update feed_origin set system_identifier = $1, timeline = $2, shift = $3', [
    identity.system,
    identity.timeline,
    String(shift),
  ])
  return true
}

/**
 * A timeline that has risen is no move: places have risen with it. Places without a timeline are one:
 * the version before, which knows none, has carried the feed over while processes were being replaced.
 */
async function readIdentity(db: Db): Promise<{ identity: Identity; hasMoved: boolean }> {
  const origin = await db.query<Identity>(
    'select system_identifier::text as system, timeline from feed_origin',
  )
  // Apart, because a cluster may have the table on another node than the one that we are connected to.
  const { rows } = await db.query<Identity & { default: string }>(
    `select s.system_identifier::text as system, t.timeline,
       pg_get_expr(d.adbin, d.adrelid) as default
     from pg_control_system() s, feed_timeline() t (timeline),
       pg_attribute a join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
     where a.attrelid = 'events'::regclass and a.attname = 'place'`,
  )
  const [[before], [row]] = [origin.rows, rows]
  if (before === undefined || row === undefined) throw new Error('feed_origin has no row')
  const hasMoved =
    row.system !== before.system ||
    row.timeline < before.timeline ||
    !/feed_place\(.*, /.test(row.default)
  return { identity: { system: row.system, timeline: row.timeline }, hasMoved }
}

/**
 * Of the events, client by client, because that is how the index stands; and of the seals, which may be further: there
 * may have been no event since the last promotion, or none is kept.
 */
async function readHighestPlace(db: Db): Promise<bigint> {
  const { rows } = await db.query<{ place: string }>(
    `select greatest(0,
       (select to_place from audit_segments order by segment desc limit 1),
       (select max(last.place) from clients c, lateral (
         select place from events e where e.client_key = c.client_key
         order by e.place desc, e.sequence desc, e.id desc limit 1) last))::text as place`,
  )
  return BigInt(rows[0]?.place ?? 0)
}

async function readTransactionId(db: Db): Promise<bigint> {
  const { rows } = await db.query<{ id: string }>('select pg_current_xact_id()::text as id')
  return BigInt(rows[0]?.id ?? 0)
}
