// Endpoints counted by how they stand: those of one client, or all of them.

import type { Pool } from 'pg'
import type { EndpointStatus } from '../../core/delivery/endpoint.ts'
import { type HealthWord, healthWord } from '../../core/delivery/health.ts'
import { type Db, inTransaction } from '../connection/db.ts'

export type HealthCounts = Readonly<Record<HealthWord, number>>

interface CountRow {
  status: EndpointStatus
  is_failing: boolean
  count: number
}

const IS_SHOWN = `e.deleted_at is null and e.kind not in ('notice', 'client-notice')`

export async function countEndpointsByHealth(db: Db, clientKey: number): Promise<HealthCounts> {
  const { rows } = await db.query<CountRow>({
    name: 'count-endpoints-by-health',
    text: `select e.status, h.failing_since is not null as is_failing, count(*)::int as count
           from endpoints e
           left join endpoint_health h on h.client_key = e.client_key and h.endpoint_id = e.id
           where e.client_key = $1 and ${IS_SHOWN}
           group by 1, 2`,
    values: [clientKey],
  })
  return toCounts(rows)
}

/** Few fail at any time, so those are counted by themselves; the others are what is left of all. */
export async function countAllEndpointsByHealth(pool: Pool): Promise<HealthCounts> {
  return inTransaction(pool, async (db) => {
    // All of the table is wanted: the one case where an index would only be in the way.
    const allowing = db.query('set local enable_seqscan = on')
    const counting = db.query<Omit<CountRow, 'is_failing'>>({
      name: 'count-endpoints-by-status',
      text: `select e.status, count(*)::int as count from endpoints e where ${IS_SHOWN} group by 1`,
    })
    const looking = db.query<{ count: number }>({
      name: 'count-failing-endpoints',
      text: `select count(*)::int as count from endpoint_health h
             join endpoints e on e.client_key = h.client_key and e.id = h.endpoint_id
             where h.failing_since is not null and e.status = 'ACTIVE' and ${IS_SHOWN}`,
    })
    // All at once: of those that are not waited for yet, a failure would end the process.
    const [, all, failing] = await Promise.all([allowing, counting, looking])
    const { healthy, ...counts } = toCounts(all.rows.map((row) => ({ ...row, is_failing: false })))
    const failed = Math.min(failing.rows[0]?.count ?? 0, healthy)
    return { ...counts, healthy: healthy - failed, failing: failed }
  })
}

function toCounts(rows: readonly CountRow[]): HealthCounts {
  const counts = { healthy: 0, failing: 0, paused: 0, disabled: 0 }
  for (const { status, is_failing, count } of rows) counts[healthWord(status, is_failing)] += count
  return counts
}
