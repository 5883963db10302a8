// Every statement of the store is held to its plan, in every state that statistics can be in: a plan that a
// change of SQL or of an index turns about shows in a review, and a bad one on the hot path never passes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cloneDatabase } from '../support/database.ts'
import { listFaults } from './rules.ts'
import { readSnapshots, renderSnapshots, SNAPSHOT_VERSION, writeSnapshots } from './snapshots.ts'
import { explainStore } from './states.ts'

const { statements, withoutTricks, plannedEachTime, unseen, version } = await explainStore()

test('every line of the store that sends a statement was called', () => {
  assert.ok(statements.length > 240)
  assert.deepEqual(unseen, [])
})

test('every statement has a name of its own, which psql does not cut', () => {
  const names = statements.map(({ name }) => name)
  assert.equal(new Set(names).size, names.length)
  assert.deepEqual(
    names.filter((name) => name.length > 63),
    [],
  )
})

test('every plan is the one of the snapshot (if not, and it is meant: npm run plans)', {
  skip: version === SNAPSHOT_VERSION ? false : `this is PostgreSQL ${version}`,
}, async () => {
  const made = renderSnapshots(statements)
  if (process.env.PAYBELL_WRITE_PLANS === '1') await writeSnapshots(made)
  const kept = await readSnapshots()
  assert.deepEqual([...kept.keys()].toSorted(), [...made.keys()].toSorted())
  for (const [file, text] of made) assert.equal(text, kept.get(file), file)
})

test('a snapshot can be pasted into psql', async () => {
  const { pool } = await cloneDatabase({ connectionsMax: 1 })
  for (const [, text] of await readSnapshots()) await pool.query(text)
  const { rows } = await pool.query<{ name: string }>('select name from pg_prepared_statements')
  assert.deepEqual(
    rows.map(({ name }) => name).toSorted(),
    statements.map(({ name }) => name).toSorted(),
  )
})

test('no plan of the hot path reads more than what it was asked for, whatever statistics say', () => {
  const hot = statements.filter(({ isHot }) => isHot)
  assert.ok(hot.length >= 30)
  const faults = hot.flatMap((statement) =>
    listFaults(statement).map((fault) => `${statement.name}: ${fault}`),
  )
  assert.deepEqual(faults, [])
})

test('a statement of the hot path is planned once, for a single row, too', () => {
  assert.deepEqual(plannedEachTime, [])
})

test('what statements do for the planner is needed: without it a plan goes wrong', () => {
  assert.ok(withoutTricks.length > 0)
  const useless: string[] = []
  for (const statement of withoutTricks) {
    const name = statement.name.replace(/ without .*/, '')
    const original = statements.find((found) => found.name === name) ?? assert.fail(name)
    const before = new Set(listFaults(original))
    const added = listFaults(statement).filter((fault) => !before.has(fault))
    if (added.length === 0) useless.push(statement.name)
  }
  assert.deepEqual(useless, [])
})
