// The migrations as they were when they were first committed: a line of `sha256sum` for each. Lines are only
// ever added, which `npm run schema` does; a migration that has one is never edited again.

import { appendFile, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { MIGRATIONS_DIR } from '../../server/store/schema/migrate.ts'
import { readMigrationHashes } from '../../server/store/schema/migration-hashes.ts'

const FILE = fileURLToPath(new URL('../house/migration-hashes.txt', import.meta.url))

/** By name, without `.sql`. */
export async function readFrozenHashes(): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(FILE, 'utf8')
  const lines = text.split('\n').filter((line) => line !== '')
  return new Map(
    lines.map((line): [string, string] => {
      const match = /^([0-9a-f]{64}) {2}(\S+)\.sql$/.exec(line)
      if (match === null) throw new Error(`not a line of sha256sum: ${line}`)
      return [match[2] as string, match[1] as string]
    }),
  )
}

/** Those that have no line yet: their names, with their hashes. */
export async function newMigrations(): Promise<readonly (readonly [string, string])[]> {
  const frozen = await readFrozenHashes()
  const hashes = [...(await readMigrationHashes(MIGRATIONS_DIR))]
  return hashes.filter(([name]) => !frozen.has(name))
}

export async function noteNewMigrations(): Promise<void> {
  const added = await newMigrations()
  await appendFile(FILE, added.map(([name, hash]) => `${hash}  ${name}.sql\n`).join(''))
}
