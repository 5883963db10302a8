// A database cluster as a sandbox makes it at its first start, migrated, made once for a whole test run: each one
// takes two seconds of computing and waits for the disk a thousand times. Tests of the first start do without it.

import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { clusterDirOf } from '../../server/embedded/cluster.ts'
import { startEmbedded } from '../../server/embedded/database.ts'
import { migrate } from '../../server/store/schema/migrate.ts'

/** Where test files find it. */
const MADE = 'PAYBELL_TEST_CLUSTER'

/** Returns how to remove it. */
export async function makeCluster(): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'paybell-cluster-'))
  const database = await startEmbedded({ dataDir, log: () => {}, ephemeral: true })
  await migrate(database.url, new Date())
  await database.stop()
  process.env[MADE] = clusterDirOf(dataDir)
  return () => rm(dataDir, { recursive: true, force: true })
}

/** Nothing happens where none was made, as when a file is run alone: the sandbox then makes its own. */
export async function copyCluster(dataDir: string): Promise<void> {
  const made = process.env[MADE]
  // With its owner, which is not root.
  if (made) await promisify(execFile)('cp', ['-a', made, clusterDirOf(dataDir)])
}
