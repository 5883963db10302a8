// Where a secret could have leaked to: every row of the database, and the spellings in which it would stand there.

import assert from 'node:assert/strict'
import type { Pool } from 'pg'

/** Every column of every row of every table, as text, with the name of its table. */
export async function* everything(pool: Pool): AsyncGenerator<{ table: string; text: string }> {
  const { rows: tables } = await pool.query<{ name: string }>(`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`)
  assert.ok(tables.length >= 15)
  for (const { name } of tables) {
    const { rows } = await pool.query<{ text: string }>(`select t::text as text from ${name} as t`)
    for (const { text } of rows) yield { table: name, text }
  }
}

/** As it is, and in the encodings in which a careless store would write it. */
export function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret)
  return [
    secret,
    encodeURIComponent(secret),
    bytes.toString('hex'),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
  ]
}
