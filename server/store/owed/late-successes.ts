// 200s for deliveries that were already final: the delivery was cancelled before, and the attempt needs a row of its own;
// or it is recorded a second time, and the history has it. Apart from the statements that record outcomes, which are
// hot and would have to look through all days of the history.

import type { Db } from '../connection/db.ts'
import { column } from '../sql/columns.ts'
import { given } from '../sql/given-rows.ts'
import { stretchAround, timesWithin } from '../sql/stretches.ts'
import { guardedRows, type HeldDelivery } from './held-deliveries.ts'

export interface LateSuccess extends HeldDelivery {
  attempt: number
  atMs: number
  durationMs: number
  excerpt: Uint8Array | null
}

const ATTEMPTS = guardedRows<LateSuccess>(
  [
    given('attempt', 'int', (record) => record.attempt),
    given('at', 'timestamptz', (record) => record.atMs),
    given('duration_ms', 'int', (record) => Math.round(record.durationMs)),
    given('excerpt', 'bytea', (record) => record.excerpt),
  ],
  0,
)

export async function recordLateSuccesses(db: Db, records: readonly LateSuccess[]): Promise<void> {
  const recorded = await findRecorded(db, records)
  const late = records.filter(({ id }) => !recorded.has(id))
  if (late.length === 0) return
  await db.query({
    text: `with ${ATTEMPTS.head}
      insert into earlier_attempts
        (client_key, delivery_id, attempt, at, duration_ms, outcome, status, excerpt)
      select client_key, id, attempt, at, duration_ms, 'answered', 200, excerpt from mine
      on conflict do nothing`,
    values: ATTEMPTS.values(late),
  })
}

/** Those that have ended their delivery. Nothing else of ours can do so between this and what follows. */
async function findRecorded(db: Db, records: readonly LateSuccess[]): Promise<ReadonlySet<string>> {
  const since = stretchAround(records.map((record) => record.atMs))
  const { rows } = await db.query<{ id: string }>({
    text: `select m.id from unnest($1::int[], $2::uuid[], $3::int[], $4::timestamptz[])
             as m (client_key, id, attempt, at)
           cross join lateral (
             select from final_deliveries f
             where f.client_key = m.client_key and f.id = m.id and f.state = 'DELIVERED'
               and f.attempts = m.attempt and f.attempted_at = m.at
               and ${timesWithin({ ...since, toMs: Number.POSITIVE_INFINITY }, 'f.finished_at')}
             limit 1) as known`,
    values: [
      column('int', records, (record) => record.clientKey),
      column('uuid', records, (record) => record.id),
      column('int', records, (record) => record.attempt),
      column('timestamptz', records, (record) => record.atMs),
    ],
  })
  return new Set(rows.map(({ id }) => id))
}
