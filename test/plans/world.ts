// The data that statements are explained on: skewed as in production (one client has half of everything),
// on fixed days and with ids made from numbers, so that every run sees the same rows. Statistics are never
// gathered by the server itself.

import { DAY_MS } from '../../server/core/delivery/backoff.ts'
import type { Db } from '../../server/store/connection/db.ts'
import { ensurePartitions } from '../../server/store/schema/partitions.ts'
import { cloneDatabase, copyDatabase, type TestDatabase } from '../support/database.ts'

export const NOW = new Date('2026-03-10T12:00:00Z')
/** Ten days are behind us; history is read in stretches of twelve. */
const DAYS = 10
const START_MS = NOW.getTime() - DAYS * DAY_MS

/** A file that nothing names. */
export const UNUSED_DOCUMENT = { clientKey: 1, hash: Buffer.alloc(32) }

const CLIENTS = 200
const DELIVERIES = 30_000
/** What migrations put there, and the audit, which nobody can empty. */
const KEPT = /^(leases|feed_origin|sealing|migrations|migration_hashes|audit.*)$/

/** An empty database with its partitions: fifteen days of them, none of the day on which the test runs. */
export async function makeEmptyWorld(options: { server?: string } = {}): Promise<TestDatabase> {
  const database = await cloneDatabase({ connectionsMax: 1, ...options })
  const { pool } = database
  const { rows } = await pool.query<{ name: string }>(
    `select relname as name from pg_class where relname ~ '_\\d{4}_\\d\\d_\\d\\d$' and relkind = 'r'`,
  )
  await pool.query(`drop table ${rows.map(({ name }) => name).join(', ')}`)
  for (const days of [DAYS, 3]) {
    await ensurePartitions(pool, new Date(NOW.getTime() - days * DAY_MS))
  }
  const leaves = await readTables(pool)
  await pool.query(
    leaves.map((name) => `alter table ${name} set (autovacuum_enabled = off)`).join(';'),
  )
  // What migrations put there may have been analyzed in the template, or not.
  const kept = leaves.filter((name) => KEPT.test(name))
  await pool.query(`vacuum (full, analyze) ${kept.join(', ')}`)
  return database
}

export function copyWorld(
  world: TestDatabase,
  options: { server?: string } = {},
): Promise<TestDatabase> {
  return copyDatabase(world, { connectionsMax: 1, ...options })
}

async function readTables(db: Db): Promise<readonly string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select relname as name from pg_class
     where relnamespace = 'paybell'::regnamespace and relkind = 'r' order by relname`,
  )
  return rows.map(({ name }) => name)
}

/** Tables whose rows come and go. */
const PASSING = /^(pending_deliveries|listener_offers|job_items|changes_at_commit)$/

export async function gatherStatistics(db: Db): Promise<void> {
  await db.query('vacuum analyze')
}

/**
 * To be called on an emptied world. What comes and goes is left as a vacuum leaves it that could not give
 * pages back: many pages, and statistics that say that no row is in them. The rest is as if it had been
 * analyzed before its first row.
 */
export async function gatherStatisticsOfEmpty(db: Db): Promise<void> {
  const others = (await readTables(db)).filter((name) => !PASSING.test(name) && !KEPT.test(name))
  await forget(db, others)
  await db.query('analyze')
}

const TODAY = NOW.toISOString().slice(0, 10).replaceAll('-', '_')

/** Of everything but what comes and goes, and what has happened today: a day is analyzed late, or at its end. */
export async function gatherStatisticsOfTheRest(db: Db): Promise<void> {
  const tables = await readTables(db)
  const rest = tables.filter((name) => !PASSING.test(name) && !name.endsWith(TODAY))
  await db.query(`vacuum analyze ${rest.join(', ')}`)
}

/** As if these tables had just been made. */
async function forget(db: Db, tables: readonly string[]): Promise<void> {
  await db.query(`truncate ${tables.join(', ')}`)
  await db.query(`delete from pg_statistic where starelid = any($1::regclass[])`, [tables])
}

/** The first moment of a day, with all the days before it. */
export async function beginToday(db: Db): Promise<void> {
  await forget(
    db,
    (await readTables(db)).filter((name) => name.endsWith(TODAY)),
  )
}

export async function emptyWorld(db: Db): Promise<void> {
  const tables = (await readTables(db)).filter((name) => !KEPT.test(name))
  await db.query(
    `set session_replication_role = replica;
     ${tables.map((name) => `delete from ${name}`).join(';')};
     set session_replication_role = origin`,
  )
}

/** A uuid made from a text, in SQL. */
const idOf = (text: string) => `md5(${text})::uuid`

export async function fillWorld(db: Db): Promise<void> {
  const now = `timestamptz '${NOW.toISOString()}'`
  const statements = [
    `set session_replication_role = replica`,
    `insert into clients (client_key, id, name, created_at, is_internal) overriding system value
     select n, ${idOf(`'c' || n`)}, 'Client ' || n, ${now}, n = ${CLIENTS}
     from generate_series(1, ${CLIENTS}) as n`,
    `select setval(pg_get_serial_sequence('clients', 'client_key'), ${CLIENTS})`,
    `insert into accounts (client_key, id, name, created_at)
     select client_key, ${idOf(`'a' || client_key`)}, 'Main', created_at from clients`,
    `insert into client_secrets (client_key, id, digest, master_key_id, created_at)
     select client_key, ${idOf(`'s' || client_key`)}, sha256('s'), 'k1', created_at from clients`,
    // Client 1 has forty endpoints, two of them disabled, one deleted; the last client's is Paybell's own.
    `insert into endpoints (client_key, id, kind, account_id, shard, url, href_hash, shared_key,
       created_at, changed_at, status, inactive_since, deleted_at, deliveries_changed_at)
     select c.client_key, ${idOf(`'n' || c.client_key || '-' || n`)}, k.kind,
       case when k.kind in ('webhook', 'listener') then ${idOf(`'a' || c.client_key`)} end,
       (c.client_key + n) % 64, 'https://receiver-' || c.client_key || '-' || n || '.test/hook',
       sha256((c.client_key || '-' || n)::bytea), '\\x00', c.created_at,
       c.created_at - n * interval '1 hour', s.status,
       case when s.status <> 'ACTIVE' then c.created_at end,
       case when n = 40 then c.created_at end, case when n % 10 = 5 then c.created_at end
     from clients c
     cross join lateral generate_series(1, case when c.client_key = 1 then 40 else 2 end) as n
     cross join lateral (select case when c.is_internal and n = 1 then 'notice'
       when n = 1 then 'subscription' when n % 9 = 0 then 'listener' else 'webhook' end as kind) as k
     cross join lateral (select case when n % 20 = 7 then 'DISABLED' when n % 20 = 8 then 'PAUSED'
       else 'ACTIVE' end as status) as s`,
    `create temp table row_of as
     select i, c.client_key, ${idOf(`'a' || c.client_key`)} as account_id, e.n,
       ${idOf(`'n' || c.client_key || '-' || e.n`)} as endpoint_id, (c.client_key + e.n) % 64 as shard,
       ${idOf(`'p' || i / 3`)} as payment_id, 1 + i % 3 as sequence,
       (array['payment.created', 'payment.due', 'payment.paid'])[1 + i % 3] as kind,
       t.at, (t.hex || '7' || substr(md5('e' || i), 1, 19))::uuid as event_id,
       (t.hex || '7' || substr(md5('d' || i), 1, 19))::uuid as id,
       case when i % 10 < 3 then 'PENDING' when i % 100 = 13 then 'EXHAUSTED'
         when i % 100 = 14 then 'CANCELLED' when i % 100 = 15 then 'SUPERSEDED'
         else 'DELIVERED' end as state
     from generate_series(0, ${DELIVERIES - 1}) as i
     cross join lateral (select timestamptz 'epoch'
       + (${START_MS} + i * ${(DAYS * DAY_MS) / DELIVERIES}::bigint) * interval '1 ms' as at,
       lpad(to_hex(${START_MS} + i * ${(DAYS * DAY_MS) / DELIVERIES}::bigint), 12, '0') as hex) as t
     cross join lateral (select
       case when (i / 3) % 2 = 0 then 1 else 2 + (i / 6) % ${CLIENTS - 2} end as client_key) as c
     cross join lateral (select
       case when c.client_key = 1 then 1 + (i / 6) % 39 else 1 + (i / 6) % 2 end as n) as e`,
    `insert into events (client_key, id, payment_id, account_id, sequence, kind, text, document_hash,
       document_bytes, created_at, place)
     select client_key, event_id, payment_id, account_id, sequence, kind, ${TEXT},
       case when i % 50 = 0 then sha256((i / 3)::text::bytea) end, case when i % 50 = 0 then 8 end, at,
       1000 + i
     from row_of`,
    `insert into payments (client_key, id, account_id, sequence, text, document_hash, accepted_at,
       changed_at)
     select client_key, payment_id, account_id, sequence, ${TEXT},
       case when i % 50 = 0 then sha256((i / 3)::text::bytea) end, at, at
     from row_of where sequence = 3`,
    `insert into documents (client_key, hash, content, created_at)
     select client_key, sha256((i / 3)::text::bytea), 'AAAAAAAA', at from row_of where i % 50 = 0
     union all
     select ${UNUSED_DOCUMENT.clientKey}, '\\x${UNUSED_DOCUMENT.hash.toString('hex')}', 'AAAA', ${now}
     on conflict do nothing`,
    `insert into final_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id,
       sequence, kind, created_at, state, attempts, deadline_at, finished_at, last_outcome, last_status,
       attempted_at, duration_ms, excerpt)
     select client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, at, state,
       1 + i % 2, at + interval '7 days', at + interval '120 ms', 'answered',
       case state when 'DELIVERED' then 200 else 503 end, case state when 'DELIVERED' then at end,
       case state when 'DELIVERED' then 120 end,
       case when state = 'DELIVERED' and i % 20 = 5 then '\\x41'::bytea end
     from row_of where state <> 'PENDING'`,
    // A third is due, a third will be, a third is parked.
    `insert into pending_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id,
       sequence, kind, shard, created_at, next_attempt_at, attempts, run_attempts, first_attempt_at,
       first_failed_at, deadline_at)
     select client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, shard, at,
       case i % 10 when 0 then ${now} - interval '1 min' when 1 then ${now} + interval '1 hour' end,
       i % 2, i % 2, case i % 2 when 1 then at end, case i % 2 when 1 then at end,
       case i % 2 when 1 then at + interval '7 days' end
     from row_of where state = 'PENDING'`,
    `insert into earlier_attempts (client_key, delivery_id, attempt, at, duration_ms, outcome, status,
       excerpt)
     select client_key, id, 1, at, 120, 'answered', 503,
       case when i % 4 = 1 then '\\x42'::bytea end
     from row_of where i % 2 = 1`,
    `insert into event_traces (client_key, event_id, traceparent, created_at)
     select client_key, event_id, repeat('0', 55), at from row_of where i % 100 = 0`,
    `insert into audit (id, at, actor, action, object, request_id, place)
     select event_id, at, 'operator', 'payment.write', 'payment:' || payment_id, event_id, 1000 + i
     from row_of where i % 6 = 0 on conflict do nothing`,
    `insert into endpoint_health (client_key, endpoint_id, failing_since, last_success_at, last_error,
       circuit)
     select client_key, id, case when shard % 8 = 0 then ${now} - interval '9 days' end, ${now},
       'timeout', 'CLOSED' from endpoints`,
    `insert into endpoint_hours (client_key, endpoint_id, hour, attempts, delivered, durations)
     select client_key, id, date_trunc('hour', ${now}) - n * interval '1 hour', 9, 8, '{1,2,3}'
     from endpoints, generate_series(0, 20) as n`,
    `insert into endpoint_notices (client_key, endpoint_id, failing_since, failing_told,
       exhausted_untold)
     select client_key, id, case when shard % 8 = 1 then ${now} end, (shard % 8 = 1)::int, shard % 2
     from endpoints`,
    `insert into final_counts (day, state, count)
     select at::date, state, count(*) from row_of where state <> 'PENDING' group by 1, 2`,
    `insert into attempt_steps (step_seconds, at, process_id, attempts, delivered, durations)
     select s, ${now} - n * s * interval '1 second', ${idOf(`'o'`)}, 9, 8, '{1,2,3}'
     from unnest(array[60, 900, 3600]) as s, generate_series(0, 150) as n`,
    `insert into listeners (client_key, endpoint_id, last_polled_at, is_listening)
     select client_key, id, ${now} - (shard || ' min')::interval, shard % 2 = 0 from endpoints
     where kind = 'listener'`,
    `insert into listener_offers (client_key, listener_id, id, delivery_id, event_id, attempt, headers,
       offered_at, deadline_at, taken_at, outcome, status, duration_ms)
     select client_key, endpoint_id, ${idOf(`'f' || i`)}, id, event_id, 1, '{}', ${now},
       ${now} + interval '15 s', case when i % 3 > 0 then ${now} end,
       case when i % 3 = 2 then 'answered' end, case when i % 3 = 2 then 200 end,
       case when i % 3 = 2 then 5 end
     from row_of where n % 9 = 0 and state = 'PENDING'`,
    `insert into jobs (id, kind, state, total, started_at, finished_at)
     select ${idOf(`'j' || n`)}, 'replay', case when n % 10 = 0 then 'RUNNING' else 'DONE' end, 100,
       ${now}, case when n % 10 > 0 then ${now} end from generate_series(0, 99) as n`,
    `insert into job_items (client_key, delivery_id, job_id, place, endpoint_id, finished_at)
     select client_key, id, ${idOf(`'j' || i / 1000 * 10`)}, i, endpoint_id, at + interval '120 ms'
     from row_of where state <> 'PENDING' and i % 9 = 0 and i < 10000`,
    `insert into job_deliveries (job_id, delivery_id, client_key, endpoint_id)
     select ${idOf(`'j' || i / 1000 * 10`)}, id, client_key, endpoint_id from row_of where i % 5 = 0 and i < 20000`,
    `insert into processes (id, host, version, started_at, seen_at)
     select ${idOf(`'o' || n`)}, 'host', '0.2.0', ${now}, ${now} from generate_series(0, 3) as n`,
    `update leases set owner = ${idOf(`'o' || shard % 4`)}, epoch = 1, beat = 1, expires_at = ${now}`,
    `insert into operator_keys (id, name, role, digest, master_key_id, created_at, revoked_at)
     select ${idOf(`'k' || n`)}, 'key ' || n, 'admin', sha256('k'), 'k1', ${now},
       case when n % 2 = 0 then ${now} end from generate_series(0, 99) as n`,
    `insert into console_sessions (digest, id, first_key_digest, first_key_master_key_id,
       operator_key_id, client_key, client_secret_id, created_at, expires_at)
     select sha256(n::text::bytea), ${idOf(`'x' || n`)}, case n % 3 when 0 then sha256('k') end,
       case n % 3 when 0 then 'k1' end, case n % 3 when 1 then ${idOf(`'k1'`)} end,
       case n % 3 when 2 then 1 + n % 50 end, case n % 3 when 2 then ${idOf(`'s1'`)} end,
       ${now}, ${now} + n * interval '1 min' from generate_series(0, 299) as n`,
    `insert into signing_keys (kid, public_jwk, private_key, created_at, verifies_until)
     select 'kid ' || n, '{}', '\\x00', ${now}, case when n > 0 then ${now} end
     from generate_series(0, 3) as n`,
    `insert into webhook_keys (kid, public_jwk, private_key, created_at, verifies_until)
     select 'kid ' || n, '{}', '\\x00', ${now}, case when n > 0 then ${now} end
     from generate_series(0, 30) as n`,
    `insert into notice_progress (exhausted_until) values (${now} - interval '2 hours')`,
    `drop table pg_temp.row_of`,
    `set session_replication_role = origin`,
  ]
  await db.query(statements.join(';\n'))
}

const TEXT = `'{"id":"' || payment_id || '","status":{"state":"' ||
  (array['DRAFT', 'DUE', 'PAID'])[sequence] || '"},"complete":' || (sequence = 3) ||
  ',"createdAt":"2026-01-31T09:30:00Z","externalId":"INV-' || i / 3 || '","quoteId":"' || payment_id ||
  '","amount":{"amount":12345.67,"currency":"EUR"},"reference":"Invoice ' || i / 3 ||
  '","purposeOfPayment":"COMPUTER_SERVICES","beneficiaryId":"' || payment_id || '"}'`
