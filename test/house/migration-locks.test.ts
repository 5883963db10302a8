// A migration runs beside traffic, on tables with millions of rows: whatever keeps others from one of those may
// take a moment, and none of its rows. A scan, a build of an index or a new copy of the table takes minutes, in
// which nothing is accepted or delivered. Migrations up to 0011 made databases before there was a release.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Db, inTransaction } from '../../server/store/connection/db.ts'
import { MIGRATIONS_DIR } from '../../server/store/schema/migrate.ts'
import { cloneDatabase } from '../support/database.ts'
import { type Effect, observe, STOPS_WRITERS } from '../support/migration-effects.ts'
import { migrateTo, migrationNames } from '../support/older-schema.ts'

const BEFORE = '0011_gentle_partitions'

/** What grows with traffic; partitions have the names of their tables and a day. Of the others there are as many
 *  rows as there are clients, endpoints, keys, processes or jobs. */
const GROWING =
  /^(payments|documents|events|pending_deliveries|final_deliveries|earlier_attempts|audit|final_counts|endpoint_hours|attempt_steps)(_default|_\d{4}_\d\d_\d\d)?$/

/** What a migration may do all the same, with why it takes a moment only. */
const ALLOWED: Readonly<Record<string, { tables: RegExp; because: string }>> = {
  '0022_find': {
    tables: /^audit_/,
    because: 'an index only of months below 64 MB, which is built in a fraction of a second',
  },
  '0033_sealed_audit': {
    tables: /^audit_/,
    because: 'an index only of months below 64 MB, which is built in a fraction of a second',
  },
}

const ROWS = 50

const { url, pool } = await cloneDatabase({ template: 'template0' })
await migrateTo(url, BEFORE)
await fill(pool)

/** Rows in the tables that grow. They need not make sense: they are there to be counted. */
async function fill(db: Db): Promise<void> {
  const id = `gen_random_uuid()`
  const rows = `from generate_series(1, ${ROWS}) as n`
  for (const statement of [
    `insert into payments (client_key, id, account_id, sequence, text, accepted_at, changed_at)
     select 1, ${id}, ${id}, 1, '{}', now(), now() ${rows}`,
    `insert into documents (client_key, hash, content, created_at)
     select 1, sha256(n::text::bytea), '', now() ${rows}`,
    `insert into events (client_key, id, payment_id, account_id, sequence, kind, text, created_at)
     select 1, ${id}, ${id}, ${id}, 1, 'payment.created', '{}', now() ${rows}`,
    `insert into pending_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id, sequence,
       kind, shard, created_at)
     select 1, ${id}, ${id}, ${id}, ${id}, ${id}, 1, 'payment.created', 0, now() ${rows}`,
    `insert into final_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id, sequence,
       kind, created_at, state, attempts, finished_at)
     select 1, ${id}, ${id}, ${id}, ${id}, ${id}, 1, 'payment.created', now(), 'CANCELLED', 0, now() ${rows}`,
    `insert into earlier_attempts (client_key, delivery_id, attempt, at, duration_ms, outcome)
     select 1, ${id}, 1, now(), 1, 'answered' ${rows}`,
    `insert into audit (id, at, actor, action, object, request_id)
     select ${id}, now(), 'test', 'payment.put', '', ${id} ${rows}`,
  ]) {
    await db.query(statement)
  }
}

/** In a transaction that leaves nothing. */
async function trying<T>(work: (db: Db) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    return await work(client)
  } finally {
    await client.query('rollback')
    client.release()
  }
}

/** Sentences about what would stop traffic for as long as a table is large. */
function faultsOf(effects: readonly Effect[]): readonly string[] {
  return effects
    .filter(({ table, strength }) => GROWING.test(table) && strength >= STOPS_WRITERS)
    .flatMap(({ table, lock, rowsRead, rowsWritten, isRewritten }) => [
      ...(isRewritten ? [`${table}: written anew under ${lock}`] : []),
      ...(rowsRead > 0 ? [`${table}: read under ${lock}`] : []),
      ...(rowsWritten > 0 ? [`${table}: its rows written under ${lock}`] : []),
    ])
}

test('regression: no migration stops traffic for as long as a table is large', async () => {
  const names = await migrationNames()
  const later = names.slice(names.indexOf(BEFORE) + 1)
  assert.ok(later.length > 0)
  // Each in a transaction of its own, as `paybell migrate` does.
  for (const name of later) {
    const sql = await readFile(join(MIGRATIONS_DIR, `${name}.sql`), 'utf8')
    const effects = await inTransaction(pool, (db) => observe(db, sql))
    const faults = faultsOf(effects.filter(({ table }) => !ALLOWED[name]?.tables.test(table)))
    assert.deepEqual(faults, [], `${name}: do it in steps that read no row under a lock`)
  }
})

for (const [what, sql] of [
  ['a type that rewrites', 'alter table payments alter column sequence type bigint'],
  [
    'a default that differs by row',
    'alter table pending_deliveries add column made_at timestamptz default clock_timestamp()',
  ],
  ['an index', 'create index on payments (account_id)'],
  ['an index on all partitions', 'create index on events (account_id)'],
  [
    'a constraint that is checked at once',
    'alter table final_deliveries add constraint bad check (attempts >= 0)',
  ],
  [
    'a constraint that is checked under the lock of another statement',
    `alter table earlier_attempts add constraint bad check (attempt > 0) not valid;
     alter table earlier_attempts validate constraint bad`,
  ],
  ['a column that may no longer be null', 'alter table payments alter column version set not null'],
  [
    'rows that are changed under a lock',
    'lock table payments in share row exclusive mode; update payments set version = 1',
  ],
] as const) {
  test(`a migration with ${what} is refused`, async () => {
    await trying(async (db) => {
      if (sql.includes('set not null')) await db.query('update payments set version = 1')
      assert.notDeepEqual(faultsOf(await observe(db, sql)), [])
    })
  })
}

for (const [what, sql] of [
  ['a column without a default', 'alter table payments add column note text'],
  ['a column with a constant', 'alter table events add column weight integer not null default 0'],
  [
    'a constraint for new rows',
    'alter table final_deliveries add constraint good check (attempts >= 0) not valid',
  ],
  ['an index of an empty table', 'create table fresh (id uuid); create index on fresh (id)'],
] as const) {
  test(`a migration with ${what} is not refused`, async () => {
    await trying(async (db) => assert.deepEqual(faultsOf(await observe(db, sql)), []))
  })
}
