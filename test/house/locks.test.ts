// Advisory locks are numbers, and two uses of one number stop each other without a word. So all of them
// stand in server/store/connection/locks.ts, and each stands there once.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { PG_MIGRATE_LOCK_ID } from 'node-pg-migrate'
import { LOCKS, MIGRATION_LOCK, type NamedLock } from '../../server/store/connection/locks.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const HOME = 'server/store/connection/locks.ts'

/** Frozen, and its function was replaced by 0011. */
const FORMER = new Set(['migrations/0004_keys_and_audit.sql'])
/** The two uses that 0.1.0 had of one number; see locks.ts. */
const FORMER_TWICE = [7_205_759_403_792_797]

function filesOf(folder: string, ending: RegExp): readonly { name: string; text: string }[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => ending.test(name) && !/node_modules|\.test\.ts$/.test(name))
    .map((name) => `${folder}/${name}`)
    .filter((name) => name !== HOME && !FORMER.has(name))
    .map((name) => ({ name, text: readFileSync(join(ROOT, name), 'utf8') }))
}

/** Locks of payments are taken by a hash of their id: no number, and a kind of lock of its own. */
const BY_HASH = /\buuid_hash_extended\([^()]*\)|\$\{paymentLockOf\('id'\)\}|\bhash\b/g

/** Calls with a number, or with a parameter or a constant that brings one. */
function numberedLocks(text: string): readonly string[] {
  const calls = text.matchAll(/pg_\w*advisory\w*\(((?:[^()]|\([^()]*\))*)\)/g)
  return [...calls]
    .filter(([, given = '']) => /[$\d]/.test(given.replace(BY_HASH, '')))
    .map(([call]) => call)
}

/** Constants that are named for what they are. */
function numberedNames(text: string): readonly string[] {
  return [...text.matchAll(/(?<![A-Z])(?:LOCK|TURN)(?:_ID)?\s*=\s*-?\d[\d_]*n?$/gm)].map(
    ([all]) => all,
  )
}

test('regression: no lock has the number of another', () => {
  const locks: readonly NamedLock[] = Object.values(LOCKS)
  const ids = locks.map(({ id }) => id)
  assert.deepEqual(ids, [...new Set(ids)])
  const formers = [...locks.map(({ former }) => former), MIGRATION_LOCK]
  const twice = formers.filter((number, index) => formers.indexOf(number) !== index)
  assert.deepEqual(twice, FORMER_TWICE)
})

test('regression: no number of a lock stands outside of locks.ts', () => {
  const files = [...filesOf('server', /\.ts$/), ...filesOf('migrations', /\.sql$/)]
  assert.ok(files.length > 300)
  const found = files.flatMap(({ name, text }) =>
    [...numberedLocks(text), ...numberedNames(text)].map((what) => `${name}: ${what}`),
  )
  assert.deepEqual(found, [])
})

test('what the test above looks for is found when it is there', () => {
  for (const bad of [
    'select pg_advisory_xact_lock(7205759403792796)',
    'select pg_try_advisory_lock($1::bigint) as taken',
    'perform pg_advisory_xact_lock(20546, 3);',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the code that is looked for has one.
    'select pg_advisory_xact_lock(${SUMMING_LOCK})',
    'select pg_advisory_lock_shared(12)',
  ]) {
    assert.equal(numberedLocks(bad).length, 1, bad)
  }
  for (const good of [
    'perform pg_advisory_xact_lock(uuid_hash_extended(payment_id, 0));',
    'select pg_advisory_xact_lock(hash) from (',
    'select id, pg_try_advisory_xact_lock(uuid_hash_extended(id, 0)) as is_ours',
  ]) {
    assert.deepEqual(numberedLocks(good), [])
  }
  assert.equal(numberedNames('const KEYS_LOCK = 7_205_759_403_792_797\n').length, 1)
  assert.equal(numberedNames('const LOCK_ID = 7_306_914\n').length, 1)
  assert.equal(numberedNames('const CLOCK = 12\n').length, 0)
})

test('every version takes the same lock to migrate', () => {
  assert.equal(MIGRATION_LOCK, PG_MIGRATE_LOCK_ID)
})
