// Which text each migration had when this database saw it first. A released migration is never edited
// (test/house/migrations.test.ts); where one was edited all the same, the schema here is not the one that
// this program was written for, and it is better to say so than to fail somewhere later.

import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Db } from '../connection/db.ts'

/** The SHA-256 that `sha256sum` shows; line ends of Windows, which a checkout may bring, left aside. */
function hashMigration(text: string): string {
  return createHash('sha256').update(text.replaceAll('\r\n', '\n')).digest('hex')
}

/** Of every migration of a folder, by its name without `.sql`, in order. */
export async function readMigrationHashes(dir: string): Promise<ReadonlyMap<string, string>> {
  const files = (await readdir(dir)).filter((name) => name.endsWith('.sql')).sort()
  const hashes = files.map(async (file): Promise<[string, string]> => {
    return [file.replace(/\.sql$/, ''), hashMigration(await readFile(join(dir, file), 'utf8'))]
  })
  return new Map(await Promise.all(hashes))
}

/** Names of the migrations that this database has noted with another text. */
export async function findChangedMigrations(
  db: Db,
  hashes: ReadonlyMap<string, string>,
): Promise<readonly string[]> {
  if (!(await hasTable(db))) return []
  const { rows } = await db.query<{ name: string; hash: string }>(
    'select name, hash from migration_hashes order by name',
  )
  return rows
    .filter(({ name, hash }) => hashes.has(name) && hashes.get(name) !== hash)
    .map(({ name }) => name)
}

export function changedMigrationText(names: readonly string[]): string {
  const [subject, verb, object] =
    names.length === 1 ? ['migration', 'is', 'the one'] : ['migrations', 'are', 'those']
  return `${subject} ${names.join(', ')} ${verb} not ${object} that this database was made with: the text has changed since`
}

/** Notes those that were applied and are not noted yet: just now, or before there were notes. */
export async function noteMigrationHashes(
  db: Db,
  hashes: ReadonlyMap<string, string>,
  now: Date,
): Promise<void> {
  // A role that does not own the schema may serve; the next `paybell migrate` of the owner notes them.
  if (!(await hasTable(db)) || !(await mayNote(db))) return
  const { rows } = await db.query<{ name: string }>(
    `select m.name from migrations m
     where not exists (select from migration_hashes h where h.name = m.name)`,
  )
  const unnoted = rows.filter(({ name }) => hashes.has(name))
  if (unnoted.length === 0) return
  await db.query({
    text: `insert into migration_hashes (name, hash, noted_at)
           select name, hash, $3 from unnest($1::text[], $2::text[]) as n (name, hash)
           on conflict do nothing`,
    values: [unnoted.map(({ name }) => name), unnoted.map(({ name }) => hashes.get(name)), now],
  })
}

/** Asked apart from the tables: a node that has them does not know them by this name. */
async function mayNote(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ may: boolean }>(
    `select has_table_privilege('migration_hashes', 'insert') as may`,
  )
  return rows[0]?.may === true
}

/** A database of an earlier version has no such table yet. */
async function hasTable(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ there: boolean }>(
    `select to_regclass('migration_hashes') is not null as there`,
  )
  return rows[0]?.there === true
}
