// A month of history, put into the tables by the database itself: what lists and counts are measured on.
// Half of it is one large client's, the rest is shared by all others; nearly all has been delivered.

import type { Pool } from 'pg'
import { DAY_MS } from '../../server/core/delivery/backoff.ts'
import type { Db } from '../../server/store/connection/db.ts'
import { ensurePartitions } from '../../server/store/schema/partitions.ts'

export interface HistorySize {
  deliveries: number
  /** How many of them, the newest, are still owed. */
  pending: number
  clients: number
  days: number
}

export const HISTORY: HistorySize = {
  deliveries: 1_000_000,
  pending: 20_000,
  clients: 1_000,
  days: 28,
}

const CHUNK = 50_000

/** Three updates of each payment follow one another; each is owed to one endpoint. */
export async function seedHistory(pool: Pool, size: HistorySize, now: Date): Promise<void> {
  const startMs = now.getTime() - size.days * DAY_MS
  for (let day = 0; day <= size.days; day += 7) {
    await ensurePartitions(pool, new Date(startMs + day * DAY_MS))
  }
  const client = await pool.connect()
  try {
    await seedClients(client, size, new Date(startMs))
    const stepMs = (size.days * DAY_MS) / size.deliveries
    for (let first = 0; first < size.deliveries; first += CHUNK) {
      const count = Math.min(CHUNK, size.deliveries - first)
      await seedChunk(client, { first, count, startMs, stepMs, size })
    }
    await client.query('select brin_summarize_new_values($1::regclass)', [
      'payments_by_external_id',
    ])
    await client.query('drop table pg_temp.row_of')
    await client.query('vacuum analyze')
  } finally {
    client.release()
  }
}

/** Client 1 is the large one, with twenty endpoints; the others have one webhook each. */
async function seedClients(db: Db, size: HistorySize, at: Date): Promise<void> {
  await db.query(
    `insert into clients (id, name, created_at)
     select gen_random_uuid(), 'Client ' || n, $2 from generate_series(1, $1) as n`,
    [size.clients, at],
  )
  await db.query(
    `insert into accounts (client_key, id, name, created_at)
     select client_key, gen_random_uuid(), 'Main', $1 from clients`,
    [at],
  )
  await db.query(
    `insert into endpoints (client_key, id, kind, account_id, shard, url, href_hash, shared_key,
       created_at, changed_at)
     select a.client_key, gen_random_uuid(), 'webhook', a.id, (a.client_key + n) % 64,
       'https://receiver-' || a.client_key || '-' || n || '.example.com/hook',
       sha256((a.client_key || '-' || n)::bytea), '\\x00', $1, $1
     from accounts a cross join lateral generate_series(
       1, case when a.client_key = (select min(client_key) from clients) then 20 else 1 end) as n`,
    [at],
  )
}

interface Chunk {
  first: number
  count: number
  startMs: number
  stepMs: number
  size: HistorySize
}

async function seedChunk(db: Db, { first, count, startMs, stepMs, size }: Chunk): Promise<void> {
  await db.query('drop table if exists pg_temp.row_of')
  await db.query(
    `create temp table row_of as
     with owner as materialized (
       select client_key, account_id, array_agg(id order by id) as endpoint_ids,
         min(shard) as shard, row_number() over (order by client_key) - 1 as place
       from endpoints group by client_key, account_id)
     select i, o.client_key, o.account_id, o.shard,
       o.endpoint_ids[1 + (i / 3) % array_length(o.endpoint_ids, 1)] as endpoint_id,
       md5('p' || i / 3)::uuid as payment_id, 1 + i % 3 as sequence,
       (array['payment.created', 'payment.due', 'payment.paid'])[1 + i % 3] as kind,
       t.at, (t.hex || '7' || substr(md5('e' || i), 1, 19))::uuid as event_id,
       (t.hex || '7' || substr(md5('d' || i), 1, 19))::uuid as id,
       case when i >= ${size.deliveries - size.pending} then 'PENDING'
         when i % 40000 = 7 then 'EXHAUSTED' when i % 90000 = 11 then 'CANCELLED'
         when i % 30000 = 13 then 'SUPERSEDED' else 'DELIVERED' end as state
     from generate_series(${first}, ${first + count - 1}) as i
     cross join lateral (select
       timestamptz 'epoch' + (${startMs}::bigint + (i * ${stepMs}::float8)::bigint) * interval '1 ms' as at,
       lpad(to_hex(${startMs}::bigint + (i * ${stepMs}::float8)::bigint), 12, '0') as hex) as t
     join owner o on o.place = case when (i / 3) % 2 = 0 then 0 else 1 + (i / 6) % ${size.clients - 1} end`,
  )
  const text = `'{"id":"' || payment_id || '","status":{"state":"' ||
    (array['DRAFT', 'DUE', 'PAID'])[sequence] || '"},"complete":' || (sequence = 3) ||
    ',"createdAt":"2026-01-31T09:30:00Z","externalId":"INV-' || i / 3 || '","quoteId":"' || payment_id ||
    '","amount":{"amount":12345.67,"currency":"EUR"},"reference":"Invoice ' || i / 3 ||
    '","purposeOfPayment":"COMPUTER_SERVICES","beneficiaryId":"' || payment_id || '"}'`
  await db.query(
    `insert into events (client_key, id, payment_id, account_id, sequence, kind, text, created_at)
     select client_key, event_id, payment_id, account_id, sequence, kind, ${text}, at from row_of`,
  )
  await db.query(
    `insert into payments (client_key, id, account_id, sequence, text, accepted_at, changed_at)
     select distinct on (payment_id) client_key, payment_id, account_id, sequence, ${text}, at, at
     from row_of order by payment_id, sequence desc on conflict do nothing`,
  )
  await db.query(
    `insert into final_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id,
       sequence, kind, created_at, state, attempts, deadline_at, finished_at, last_outcome, last_status,
       attempted_at, duration_ms)
     select client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, at, state, 1,
       at + interval '7 days', at + interval '120 ms', 'answered',
       case state when 'DELIVERED' then 200 else 503 end,
       case state when 'DELIVERED' then at end, case state when 'DELIVERED' then 120 end
     from row_of where state <> 'PENDING'`,
  )
  await db.query(
    `insert into pending_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id,
       sequence, kind, shard, created_at, next_attempt_at)
     select client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, shard, at,
       at + interval '10 years'
     from row_of where state = 'PENDING'`,
  )
  await db.query(
    `insert into earlier_attempts (client_key, delivery_id, attempt, at, duration_ms, outcome, status)
     select client_key, id, 1, at, 120, 'answered', 503
     from row_of where state not in ('PENDING', 'DELIVERED')`,
  )
}
