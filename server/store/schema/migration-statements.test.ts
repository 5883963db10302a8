// What a distributed cell is sent of a migration: single commands, which together are the migration.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { QueryConfig } from 'pg'
import { cloneDatabase } from '../../../test/support/database.ts'
import { dumpSchema } from '../../../test/support/dump-schema.ts'
import { MIGRATIONS_DIR } from './migrate.ts'
import { toStatements } from './migration-statements.ts'

test('a semicolon in a text, a name, a comment or a function ends nothing', () => {
  const body = "begin; perform 'it''s; -- no comment'; end;"
  assert.deepEqual(
    toStatements(`-- one; two
      select 'a;b', "c;d" /* e; f */;
      create function f() returns void language plpgsql as $x$${body}$x$;
      create rule r as on insert to t do instead (select 1; select 2);
      select 3`),
    [
      `select 'a;b', "c;d"`,
      `create function f() returns void language plpgsql as $x$${body}$x$`,
      'create rule r as on insert to t do instead (select 1; select 2)',
      'select 3',
    ],
  )
})

test('a table is changed in one way at a time', () => {
  assert.deepEqual(
    toStatements(`alter table only paybell.a
      add column b numeric(12, 2) default 'x,y',
      add constraint c check (d in (1, 2)) not valid;
      alter table if exists e rename to f`),
    [
      `alter table only paybell.a add column b numeric(12, 2) default 'x,y'`,
      'alter table only paybell.a add constraint c check (d in (1, 2)) not valid',
      'alter table if exists e rename to f',
    ],
  )
})

test('regression: every migration, sent command by command, makes the same schema', async () => {
  const { pool } = await cloneDatabase({ template: 'template0', connectionsMax: 1 })
  await pool.query('create schema paybell')
  await pool.query('set search_path = paybell')
  // The protocol that Citus speaks to its nodes refuses a text of two commands.
  const send = (text: string) => pool.query({ text, queryMode: 'extended' } as QueryConfig)
  for (const file of readdirSync(MIGRATIONS_DIR).toSorted()) {
    const text = readFileSync(join(MIGRATIONS_DIR, file), 'utf8')
    for (const command of toStatements(text)) await send(command)
  }
  const { pool: whole } = await cloneDatabase({ connectionsMax: 1 })
  assert.equal(await dumpSchema(pool), await dumpSchema(whole))
})
