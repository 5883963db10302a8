// docs/data-protection.md says of every table where it is, and so how long it is kept.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

test('what is stored is named: each table of the schema has its row, and no other has', () => {
  const tables = [...read('schema.sql').matchAll(/^create table (\w+) \(/gm)].map(
    ([, name]) => name,
  )
  const [, stored = ''] = read('docs/data-protection.md').split(/^## /m)
  const cells = [...stored.matchAll(/^\| .* \| .* \| (.*) \| .* \|$/gm)].map(([, where]) => where)
  const named = cells.flatMap((where = '') =>
    [...where.matchAll(/`(\w+)`/g)].map(([, name]) => name),
  )
  assert.deepEqual(named.toSorted(), tables.toSorted())
})
