// Every statement of the store on two kinds of database: in the schema of another cell of a plain PostgreSQL,
// and in a schema that Citus distributes, where PAYBELL_TEST_CITUS_URL names a database with the extension.
// The statements are those of the snapshots: planning one is enough to have it refused.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Pool } from 'pg'
import { addressOfCell } from '../../server/core/database-url.ts'
import { distributeCell } from '../../server/store/cells.ts'
import { createPool, inTransaction } from '../../server/store/db.ts'
import { migrate } from '../../server/store/migrate.ts'
import { cloneDatabase } from '../support/database.ts'
import { readSnapshots } from './snapshots.ts'

const CELL = 1_000
const CITUS = process.env.PAYBELL_TEST_CITUS_URL

async function openCell(url: string): Promise<Pool> {
  const address = addressOfCell(url, CELL)
  await migrate(address, new Date())
  const pool = createPool({
    url: address,
    connectionsMax: 1,
    onIdleError: () => {},
    applicationName: 'paybell test',
  })
  after(() => pool.end())
  return pool
}

/** The statements that are refused, with the reason. */
async function findRefused(pool: Pool): Promise<{ count: number; refused: readonly string[] }> {
  for (const [, text] of await readSnapshots()) await pool.query(text)
  const { rows } = await pool.query<{ name: string; parameters: number }>(
    `select name, coalesce(array_length(parameter_types, 1), 0) as parameters
     from pg_prepared_statements where name like '%.%'`,
  )
  const refused: string[] = []
  for (const { name, parameters } of rows) {
    const nulls = Array.from({ length: parameters }, () => 'null').join(', ')
    const explain = `explain execute "${name}"${parameters > 0 ? `(${nulls})` : ''}`
    await pool.query(explain).catch((error) => refused.push(`${name}: ${error.message}`))
  }
  return { count: rows.length, refused }
}

test('every statement of the store works in the schema of any cell', async () => {
  const { url } = await cloneDatabase({ connectionsMax: 1 })
  const pool = await openCell(url)
  assert.equal(await inTransaction(pool, distributeCell), false)
  const { count, refused } = await findRefused(pool)
  assert.ok(count > 240)
  assert.deepEqual(refused, [])
})

test('every statement of the store works in a schema that is distributed', {
  skip: CITUS ? false : 'PAYBELL_TEST_CITUS_URL names no database with Citus',
}, async () => {
  const pool = await openCell(CITUS as string)
  assert.equal(await inTransaction(pool, distributeCell), true)
  assert.deepEqual((await findRefused(pool)).refused, [])
})

// What Citus 13 says no to, or silently does on the wrong node, as far as the text shows it.
const UNSTABLE = /clock_timestamp|random\(|[+-] interval\b|::timestamptz [+-]/
const CATALOGUE = /\bpg_(class|inherits|stats|attribute|namespace)\b/
const TABLES =
  /\b(from|join|into|update) (pending_deliveries|final_deliveries|endpoints|events|leases|payments)\b/

test('no update sets, and no statement returns, what depends on the clock or the zone', async () => {
  for (const [file, text] of await readSnapshots()) {
    const bare = text.replaceAll(/--.*$/gm, '')
    for (const statement of bare.split(/^prepare /m).slice(1)) {
      const parts = [
        ...statement.matchAll(/\bset\b([\s\S]*?)(?:\bwhere\b|\bfrom\b|\n\s*\), )/g),
        ...statement.matchAll(/\breturning\b([\s\S]*?)(?:\bselect\b|\binsert\b|;)/g),
      ]
      for (const [, part = ''] of parts)
        assert.doesNotMatch(part, UNSTABLE, `${file}: ${statement}`)
      assert.ok(!(CATALOGUE.test(statement) && TABLES.test(statement)), `${file}: ${statement}`)
    }
  }
})

test('the line of the feed is drawn by the node that gives places', async () => {
  const feed = (await readSnapshots()).get('feed-line.sql') ?? ''
  const horizon = feed.split(/^prepare /m).filter((statement) => /feed_horizon\(/.test(statement))
  assert.equal(horizon.length, 1)
  // A select without a table is never sent on.
  assert.doesNotMatch(horizon[0]?.replaceAll(/--.*$/gm, '') ?? '', /\bfrom\b/)
})
