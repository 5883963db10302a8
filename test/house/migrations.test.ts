// Migrations are never edited: databases exist that were made with them as they are.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MIGRATIONS_DIR } from '../../server/store/schema/migrate.ts'
import { readMigrationHashes } from '../../server/store/schema/migration-hashes.ts'
import { readFrozenHashes } from '../support/frozen-migrations.ts'

test('regression: no migration has been edited (to change the schema, write a new one)', async () => {
  const hashes = await readMigrationHashes(MIGRATIONS_DIR)
  const frozen = await readFrozenHashes()
  const edited = [...frozen].filter(([name, hash]) => hashes.get(name) !== hash)
  assert.deepEqual(
    edited.map(([name]) => name),
    [],
  )
})

test('every migration has its hash in migration-hashes.txt (if not: npm run schema)', async () => {
  const frozen = await readFrozenHashes()
  const hashes = await readMigrationHashes(MIGRATIONS_DIR)
  assert.deepEqual(
    [...hashes.keys()].filter((name) => !frozen.has(name)),
    [],
  )
})

test('regression: no two migrations have one number: a database that has the later refuses the earlier', async () => {
  const names = [...(await readMigrationHashes(MIGRATIONS_DIR)).keys()]
  const numbers = names.map((name) => name.slice(0, 4))
  assert.deepEqual(
    numbers.filter((number, index) => numbers.indexOf(number) !== index),
    [],
  )
})
