// Every statement of the store, run on two kinds of database: in the schema of another cell of a plain PostgreSQL, and
// in a schema that Citus distributes, which refuses much only when it is run. For that PAYBELL_TEST_CITUS_URL names a
// database of the coordinator, with the extension.

import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Pool } from 'pg'
import { FEED_START } from '../../server/core/asking/feed-cursor.ts'
import { DAY_MS } from '../../server/core/delivery/backoff.ts'
import { schemaOfCell } from '../../server/core/network/cell.ts'
import { addressOfCell } from '../../server/core/network/database-url.ts'
import { UuidMaker } from '../../server/core/plain/uuid.ts'
import { type Db, inTransaction } from '../../server/store/connection/db.ts'
import { readFeed } from '../../server/store/history/feed.ts'
import { saveEventsAndFanOut } from '../../server/store/payments/accept.ts'
import { grantToAppRole } from '../../server/store/schema/app-role.ts'
import { distributeCell, readNodeOfCell } from '../../server/store/schema/cells.ts'
import { MIGRATIONS_DIR, migrate } from '../../server/store/schema/migrate.ts'
import { ensurePartitions } from '../../server/store/schema/partitions.ts'
import { cloneDatabase, openPool } from '../support/database.ts'
import { until } from '../support/paybell.ts'
import { storeClient } from '../support/stored-deliveries.ts'
import { callCells } from './calls-cells.ts'
import { callHotPath } from './calls-hot.ts'
import { callReads } from './calls-reads.ts'
import { callWrites } from './calls-writes.ts'
import { Recorder } from './recorder.ts'
import { pickSample } from './sample.ts'
import { renderStatement, SESSION } from './shown.ts'
import { withTypes } from './states.ts'
import { fillWorld, NOW } from './world.ts'

const CELL = 1_000
const CITUS = process.env.PAYBELL_TEST_CITUS_URL
/** A cell with the migrations before this one can be on a node of a cluster: 0034 has prepared it for that. */
const FIRST_FOR_CLUSTERS = '0035'

/** To fill a world, or to hand it to a cluster, takes longer than a statement of the store may. */
const FILLING_MS_MAX = 120_000

async function openCell(url: string): Promise<Pool> {
  const address = addressOfCell(url, CELL)
  await migrate(address, new Date())
  return openPool({ after }, address, 4, FILLING_MS_MAX)
}

/** A cell with a world, made before the cluster takes the cell: what fills it is no statement of the store. */
async function openFullCell(url: string) {
  const pool = await openCell(url)
  for (const days of [10, 3]) await ensurePartitions(pool, new Date(NOW.getTime() - days * DAY_MS))
  const filling = await pool.connect()
  // The end of the pool waits for it, also where it fails.
  await fillWorld(filling).finally(() => filling.release())
  return { pool, isDistributed: await inTransaction(pool, distributeCell) }
}

/** One that is refused fails the test. */
async function callStore(recorder: Recorder): Promise<void> {
  const sample = await pickSample(recorder.pool)
  await callHotPath(recorder, sample)
  await callReads(recorder, sample)
  await callWrites(recorder, sample)
  assert.ok(recorder.statements.length > 240)
}

const { url } = await cloneDatabase({ connectionsMax: 1 })
const plain = await openFullCell(url)
/** Of all that the texts are read for. */
const recorder = new Recorder(plain.pool)

test('every statement of the store works in the schema of any cell', async (t) => {
  assert.equal(plain.isDistributed, false)
  await callStore(recorder)
  await callCells(recorder)
  // As somebody does who pastes them into psql.
  const typed = await withTypes(plain.pool, recorder.statements)
  const shown = typed.map((statement) => renderStatement({ ...statement, isHot: false }))
  const psql = await plain.pool.connect()
  await psql.query([SESSION, ...shown].join('\n'))
  psql.release(true)
  t.diagnostic(`${recorder.statements.length} statements`)
})

/** Two writers, the later of which commits first. */
async function raceWriters(pool: Pool): Promise<void> {
  const ids = new UuidMaker(() => Date.now(), randomBytes)
  const client = await storeClient(pool)
  const save = async (db: Db) => {
    const event = { ...client, id: ids.next(), paymentId: randomUUID(), sequence: 1, text: '{}' }
    const kind = { kind: 'payment.created', documentHash: null, documentBytes: null }
    await saveEventsAndFanOut(db, [{ ...event, ...kind }], new Date())
    return event.id
  }
  const read = async () =>
    (await readFeed(pool, client.clientKey, FEED_START, 10)).events.map(({ id }) => id)
  const first = await pool.connect()
  try {
    await first.query('begin')
    const slow = await save(first)
    const quick = await inTransaction(pool, save)
    assert.deepEqual(await read(), [], 'what was written before may still come')
    await first.query('commit')
    await until('both are shown', async () => (await read()).length === 2)
    assert.deepEqual(await read(), [slow, quick])
  } finally {
    first.release()
  }
}

test('of two writers none is passed over by a reader of the feed', () => raceWriters(plain.pool))

test('in a schema that is distributed every call of the store works, and the feed is in order', {
  skip: CITUS ? false : 'PAYBELL_TEST_CITUS_URL names no database with Citus',
}, async (t) => {
  const { pool, isDistributed } = await openFullCell(CITUS as string)
  assert.equal(isDistributed, true)
  assert.match((await readNodeOfCell(pool)) ?? '', /:\d+$/)
  await raceWriters(pool)
  const distributed = new Recorder(pool)
  await callStore(distributed)
  t.diagnostic(`${distributed.statements.length} statements`)
  await pool.query(`drop schema ${schemaOfCell(CELL)} cascade`)
})

test('a cell that was distributed takes the migrations that came after', {
  skip: CITUS ? false : 'PAYBELL_TEST_CITUS_URL names no database with Citus',
}, async () => {
  const url = addressOfCell(CITUS as string, CELL + 1)
  const earlier = await mkdtemp(join(tmpdir(), 'paybell-migrations-'))
  for (const file of (await readdir(MIGRATIONS_DIR)).filter((name) => name < FIRST_FOR_CLUSTERS)) {
    await copyFile(join(MIGRATIONS_DIR, file), join(earlier, file))
  }
  await migrate(url, new Date(), { migrationsDir: earlier })
  const pool = openPool({ after }, url, 2, FILLING_MS_MAX)
  assert.equal(await inTransaction(pool, distributeCell), true)
  assert.ok((await migrate(url, new Date())).length > 1)
  assert.deepEqual(await migrate(url, new Date()), [])
  await pool.query(`drop schema ${schemaOfCell(CELL + 1)} cascade`)
  await rm(earlier, { recursive: true })
})

test('regression: a role of its own may serve a cell that was distributed', {
  skip: CITUS ? false : 'PAYBELL_TEST_CITUS_URL names no database with Citus',
}, async () => {
  const url = addressOfCell(CITUS as string, CELL + 2)
  const role = `test_${randomBytes(8).toString('hex')}`
  await migrate(url, new Date())
  const pool = openPool({ after }, url, 2, FILLING_MS_MAX)
  await inTransaction(pool, distributeCell)
  await pool.query(`create role ${role}`)
  // Every release is followed by it.
  for (let time = 0; time < 2; time++) await grantToAppRole(url, role)
  const { rows } = await pool.query(
    `select has_table_privilege($1, 'endpoints', 'update') as writes,
       has_table_privilege($1, 'audit', 'insert') as notes,
       has_table_privilege($1, 'audit', 'delete') as forgets`,
    [role],
  )
  assert.deepEqual(rows, [{ writes: true, notes: true, forgets: false }])
  await pool.query(`drop schema ${schemaOfCell(CELL + 2)} cascade`)
  await pool.query(`drop role ${role}`)
})

// What Citus 13 says no to, or silently does on the wrong node, as far as the text shows it.
const UNSTABLE = /clock_timestamp|random\(|[+-] interval\b|::timestamptz [+-]/
const CATALOGUE = /\bpg_(class|inherits|stats|attribute|namespace)\b/
const TABLES =
  /\b(from|join|into|update) (pending_deliveries|final_deliveries|endpoints|events|leases|payments)\b/

/** As it is sent, without its comments. */
const withoutComments = (text: string) => `${text.replaceAll(/--.*$/gm, '')};`

test('no update sets, and no statement returns, what depends on the clock or the zone', () => {
  assert.ok(recorder.statements.length > 240)
  for (const { name, text } of recorder.statements) {
    const statement = withoutComments(text)
    const parts = [
      ...statement.matchAll(/\bset\b([\s\S]*?)(?:\bwhere\b|\bfrom\b|\n\s*\), )/g),
      ...statement.matchAll(/\breturning\b([\s\S]*?)(?:\bselect\b|\binsert\b|;)/g),
    ]
    for (const [, part = ''] of parts) assert.doesNotMatch(part, UNSTABLE, `${name}: ${statement}`)
    assert.ok(!(CATALOGUE.test(statement) && TABLES.test(statement)), `${name}: ${statement}`)
  }
})

/** Up to where the bracket before it closes. */
function untilClosed(text: string): string {
  let depth = 1
  const end = [...text].findIndex((character) => {
    if (character === '(') depth++
    else if (character === ')') depth--
    return depth === 0
  })
  return end === -1 ? text : text.slice(0, end)
}

const PART = /\b(\w+) as (?:materialized )?\((?=\s*(?:select|insert|delete|update)\b)/

test('what a part of a statement inserts out of another part names a table of the cell', () => {
  let count = 0
  for (const { name, text } of recorder.statements) {
    const [, ...pieces] = withoutComments(text).split(PART)
    const names = pieces.filter((_, index) => index % 2 === 0)
    const readsPart = new RegExp(`\\bfrom (${names.join('|')})\\b`)
    const inserts = pieces
      .filter((piece, index) => index % 2 === 1 && /^\s*insert into/.test(piece))
      .map(untilClosed)
    for (const insert of inserts.filter((each) => readsPart.test(each))) {
      count++
      // Without it Citus sends the rows to every node, and one that is dead stops the statement.
      assert.match(insert, /from feed_origin/, `${name}: ${text}`)
    }
  }
  assert.ok(count > 5)
})

test('regression: an insert from arrays has no parameter outside of its select', () => {
  let count = 0
  for (const { name, text } of recorder.statements) {
    const [, ...inserts] = withoutComments(text).split(/\binsert into\b/)
    for (const insert of inserts.map(untilClosed)) {
      const [selected = '', onConflict = ''] = insert.split(/\bon conflict\b/)
      if (!/\bselect\b[\s\S]*\bunnest\(/.test(selected)) continue
      count++
      // Citus writes the arrays into the text, and the node knows the types of no parameter any more.
      assert.doesNotMatch(onConflict, /\$\d/, `${name}: ${text}`)
    }
  }
  assert.ok(count > 5)
})

test('regression: every part of a statement has a column', () => {
  for (const { name, text } of recorder.statements) {
    // Citus keeps what a part holds, and cannot read nothing back.
    assert.doesNotMatch(
      withoutComments(text),
      /\bas (?:materialized )?\(\s*select\s+from\b/,
      `${name}: ${text}`,
    )
  }
})

test('the line of the feed is drawn by the node that gives places', () => {
  const horizon = recorder.statements.filter(({ text }) => /feed_horizon\(/.test(text))
  assert.equal(horizon.length, 1)
  // A select without a table is never sent on.
  assert.doesNotMatch(withoutComments(horizon[0]?.text ?? ''), /\bfrom\b/)
})
