// One partition per day for everything that grows with traffic, made days ahead, so that no write
// ever waits for one. Rows outside all days (a clock gone wrong) fall into the default partition.

import { DAY_MS } from '../core/backoff.ts'
import { uuidFloor } from '../core/uuid.ts'
import type { Db } from './db.ts'

const DAYS_AHEAD = 7
/** Any number that nothing else in this database uses. */
const PARTITIONS_LOCK = 7_205_759_403_792_795

/** How each table turns the start of a day into the bound of a partition. */
const PARTITIONED = {
  events: (ms: number) => uuidFloor(ms),
  final_deliveries: (ms: number) => new Date(ms).toISOString(),
  earlier_attempts: (ms: number) => new Date(ms).toISOString(),
} as const

export async function ensurePartitions(db: Db, now: Date): Promise<void> {
  // The audit goes by months, and need not belong to this service's role (migrations/0004).
  await db.query('select ensure_audit_partitions($1)', [now])
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS
  const { rows } = await db.query<{ name: string }>(
    `select c.relname as name from pg_inherits i
       join pg_class c on c.oid = i.inhrelid
       join pg_class p on p.oid = i.inhparent
      where p.relname = any($1) and p.relnamespace = current_schema()::regnamespace`,
    [Object.keys(PARTITIONED)],
  )
  const existing = new Set(rows.map((row) => row.name))
  const missing: string[] = []
  for (let day = 0; day <= DAYS_AHEAD; day++) {
    const start = today + day * DAY_MS
    const suffix = new Date(start).toISOString().slice(0, 10).replaceAll('-', '_')
    for (const [table, bound] of Object.entries(PARTITIONED)) {
      const name = `${table}_${suffix}`
      if (existing.has(name)) continue
      missing.push(
        `create table if not exists ${name} partition of ${table}
           for values from ('${bound(start)}') to ('${bound(start + DAY_MS)}');`,
      )
    }
  }
  if (missing.length === 0) return
  // One string is one transaction. The lock is needed although every line says "if not exists":
  // two processes that pass that check together would still collide.
  await db.query(`select pg_advisory_xact_lock(${PARTITIONS_LOCK}); ${missing.join('\n')}`)
}
