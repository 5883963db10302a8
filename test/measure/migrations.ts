// npm run measure:migrations -- [rows] [endpoints]. Fills a database with the schema of the first release with so many
// deliveries, 5 million by default, and endpoints, then migrates it to now as `paybell migrate` does: what each
// migration takes, and which tables it keeps writers from for so long. Not part of the tests: it takes minutes.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { createClient, createPool } from '../../server/store/connection/db.ts'
import { MIGRATIONS_DIR } from '../../server/store/schema/migrate.ts'
import { type Effect, observe, STOPS_WRITERS } from '../support/migration-effects.ts'
import { readArguments, toCount } from '../support/number-arguments.ts'
import { migrateTo, migrationNames } from '../support/older-schema.ts'
import { seedHistory } from '../support/seed-history.ts'
import { databaseUrl, onServer, startTestServer } from '../support/test-server.ts'

/** The first that makes partitions as history is seeded here. */
const SEEDED_AT = '0011_gentle_partitions'

const [rows, endpoints] = readArguments(() => {
  const [deliveries = '5000000', count = '100000'] = process.argv.slice(2)
  return [toCount('rows', deliveries), toCount('endpoints', count)]
})

const server = await startTestServer()
try {
  await onServer(server.url, (db) => db.query('create database measured'))
  const url = databaseUrl(server.url, 'measured')
  await migrateTo(url, SEEDED_AT)
  const startedAt = performance.now()
  await fill(url)
  console.log(
    `${rows} deliveries and ${endpoints} endpoints stored in ${seconds(startedAt)} s, ${await sizeOf(url)}`,
  )
  await measure(url)
} finally {
  await server.stop()
}

async function fill(url: string): Promise<void> {
  const pool = createPool({
    url,
    connectionsMax: 2,
    onIdleError: () => {},
    applicationName: 'measure migrations',
    statementTimeoutMs: 600_000,
  })
  try {
    const size = { deliveries: rows, pending: Math.round(rows / 50), clients: 1_000, days: 14 }
    await seedHistory(pool, size, new Date())
    await addEndpoints(pool)
    await addAudit(pool)
  } finally {
    await pool.end()
  }
}

/** Accounts share them; the search for their addresses gets an index. */
async function addEndpoints(pool: Pool): Promise<void> {
  await pool.query(
    `insert into endpoints (client_key, id, kind, account_id, shard, url, href_hash, shared_key,
       created_at, changed_at)
     select a.client_key, gen_random_uuid(), 'webhook', a.id, n % 64,
       'https://receiver-' || n || '.example.com/hook', sha256(n::text::bytea), '\\x00', now(), now()
     from generate_series(1, $1::int) as n
     join (select *, row_number() over () - 1 as place from accounts) a on a.place = n % 1000`,
    [endpoints],
  )
  await pool.query(
    `insert into endpoint_health (client_key, endpoint_id) select client_key, id from endpoints`,
  )
}

/** A row for each change of a payment, as the operator's writes leave them. */
async function addAudit(pool: Pool): Promise<void> {
  await pool.query(`select ensure_audit_partition(now(), null)`)
  await pool.query(
    `insert into audit (id, at, actor, action, object, request_id)
     select (lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || '7'
         || substr(md5(n::text), 1, 19))::uuid, now(), 'operator', 'payment.put', md5(n::text),
       gen_random_uuid()
     from generate_series(1, $1::int) as n`,
    [rows],
  )
}

async function sizeOf(url: string): Promise<string> {
  const { rows: sizes } = await onServer(url, (db) =>
    db.query('select pg_size_pretty(pg_database_size(current_database())) as size'),
  )
  return sizes[0].size
}

async function measure(url: string): Promise<void> {
  const client = createClient(url, 'measure migrations')
  await client.connect()
  const names = await migrationNames()
  /** The longest that writers of a table were kept out at a time. */
  const heldMs = new Map<string, number>()
  const startedAt = performance.now()
  for (const name of names.slice(names.indexOf(SEEDED_AT) + 1)) {
    const begunAt = performance.now()
    const sql = await readFile(join(MIGRATIONS_DIR, `${name}.sql`), 'utf8')
    await client.query('begin')
    const effects = await observe(client, sql)
    await client.query('commit')
    const tookMs = performance.now() - begunAt
    const held = effects.filter(({ strength }) => strength >= STOPS_WRITERS)
    for (const { table } of held) heldMs.set(table, Math.max(tookMs, heldMs.get(table) ?? 0))
    console.log(`${format(tookMs)}  ${name}${describe(held)}`)
  }
  console.log(`${format(performance.now() - startedAt)}  in all`)
  const parents = [...heldMs].filter(([table]) => !/_(\d{4}_\d\d_\d\d|default)$/.test(table))
  for (const [table, ms] of parents) {
    console.log(`${format(ms)}  at most, writers of ${table} were kept out`)
  }
  await client.end()
}

function format(ms: number): string {
  return `${ms.toFixed(1).padStart(9)} ms`
}

function describe(held: readonly Effect[]): string {
  const read = held.filter(({ rowsRead, isRewritten }) => rowsRead > 0 || isRewritten)
  const words = [
    ...(held.length > 0 ? [`locks ${nameTables(held.map(({ table }) => table))}`] : []),
    ...read.map(({ table, rowsRead }) => `reads ${rowsRead} rows of ${table}`),
  ]
  return words.length > 0 ? `: ${words.join('; ')}` : ''
}

/** Partitions as one: `events and 16 partitions`. */
function nameTables(tables: readonly string[]): string {
  const named = tables.filter((table) => !/_(\d{4}_\d\d_\d\d|default)$/.test(table))
  const partitions = tables.length - named.length
  return [...named, ...(partitions > 0 ? [`${partitions} partitions`] : [])].join(', ')
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1_000).toFixed(1)
}
