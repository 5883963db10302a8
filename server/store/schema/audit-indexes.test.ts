// Months without their index of places get it, and sealing then reads none of them whole.

import assert from 'node:assert/strict'
import test from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { indexPlaces } from './audit-indexes.ts'

test('months that migration 0033 left without an index get it, once, and it is part of the whole', async () => {
  const { pool } = await cloneDatabase()
  assert.deepEqual(await indexPlaces(pool), { made: [], left: [] })
  // As in a database with large months: the index of the whole, and none of its parts.
  await pool.query('drop index audit_by_place')
  await pool.query(
    `create index audit_by_place on only audit using brin (place)
     with (pages_per_range = 32, autosummarize = on)`,
  )
  const { rows } = await pool.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'audit'::regclass`,
  )
  const partitions = rows.map(({ name }) => name).toSorted()
  const { made, left } = await indexPlaces(pool)
  assert.deepEqual(left, [])
  assert.deepEqual([...made].toSorted(), partitions)
  const whole = await pool.query(
    `select indisvalid as valid from pg_index where indexrelid = 'audit_by_place'::regclass`,
  )
  assert.deepEqual(whole.rows, [{ valid: true }], 'all parts are attached')
  assert.deepEqual(await indexPlaces(pool), { made: [], left: [] })
})
