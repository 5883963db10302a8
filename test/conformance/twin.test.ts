// The simulator's twin answers and changes as PostgreSQL does: the same seeded operations through
// both, compared step by step. When a rule in server/store changes, this is what says so.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cloneDatabase } from '../support/database.ts'
import { CONFORMANCE, seedsOf } from '../support/slices.ts'
import { BothStores } from './both-stores.ts'
import { Operations } from './operations.ts'

for (const seed of seedsOf(CONFORMANCE, process.env.PAYBELL_CONFORMANCE_SEED)) {
  test(`the twin conforms to PostgreSQL, seed ${seed}`, async () => {
    const database = await cloneDatabase()
    const both = new BothStores(database)
    await both.prepare()
    const operations = new Operations(both, seed)
    const done: string[] = []
    for (let step = 0; step < CONFORMANCE.steps; step++) {
      const name = await operations.next()
      done.push(name)
      await both.sameState(`step ${step}, ${name}; PAYBELL_CONFORMANCE_SEED=${seed}`)
    }
    assert.ok(new Set(done).size >= 15, `only ${new Set(done).size} kinds of operation came up`)
    await database.drop()
  })
}
