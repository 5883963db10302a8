// Where Node keeps what it has compiled, for all processes of a test run and for the next run: a service starts in a
// third of the time. Node finds an entry by what the file says, so that a changed file is compiled again.

import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const COMPILED = fileURLToPath(
  new URL('../../node_modules/.cache/paybell-compiled/', import.meta.url),
)

/** Some 2,000 entries are in use. Those of changed files are never removed one by one. */
const ENTRIES_MAX = 20_000

/** For every process that is started from here on. */
export async function keepCompiled(): Promise<void> {
  await mkdir(COMPILED, { recursive: true })
  const entries = await readdir(COMPILED, { recursive: true })
  if (entries.length > ENTRIES_MAX) {
    for (const name of await readdir(COMPILED)) await rm(join(COMPILED, name), { recursive: true })
  }
  process.env.NODE_COMPILE_CACHE = COMPILED
}
