// The cluster `<data dir>/pg`: made once, never half. It is built in a folder beside it and renamed when
// it is complete and on disk; the password lies inside, so that the two cannot be separated.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmod,
  lchown,
  lstat,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises'
import { endianness } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Binaries } from './binaries.ts'
import { endProcessesIn } from './leftovers.ts'
import { folderArgument, giveTree, type RunAs, spawnIn } from './run-as.ts'
import { initdbArguments } from './server-settings.ts'

const MAJOR_VERSION = '18'
const PASSWORD_FILE = 'paybell.password'
const UNFINISHED = 'pg.unfinished-'

/** How the cluster was found: new, shut down in order, or left by a crash. */
export type ClusterState = 'fresh' | 'clean' | 'crashed'

export interface Cluster {
  password: string
  state: ClusterState
}

export function clusterDirOf(dataDir: string): string {
  return join(dataDir, 'pg')
}

/** What a cluster is made with. */
export interface ClusterTools {
  dataDir: string
  runDir: string
  runAs: RunAs
  binaries: Binaries
  /** False for a throw-away cluster, which a power cut may destroy. */
  sync: boolean
}

export async function openCluster(tools: ClusterTools): Promise<Cluster> {
  const dir = clusterDirOf(tools.dataDir)
  await removeUnfinished(tools.dataDir)
  const found = await lstat(dir).catch(() => undefined)
  if (found) {
    await checkCluster(dir, found.uid, tools.runAs)
    return { password: await readPassword(dir), state: await readState(dir) }
  }
  return { password: await createCluster(tools, dir), state: 'fresh' }
}

async function createCluster(tools: ClusterTools, dir: string): Promise<string> {
  const { dataDir, runAs } = tools
  const password = randomBytes(24).toString('base64url')
  const unfinished = await mkdtemp(join(dataDir, UNFINISHED))
  if (runAs) await lchown(unfinished, runAs.uid, runAs.gid)
  await runInitdb(tools, unfinished, password)
  await writeDurably(join(unfinished, PASSWORD_FILE), password, runAs)
  await syncFolder(unfinished)
  await rename(unfinished, dir)
  await syncFolder(dataDir)
  return password
}

async function runInitdb(tools: ClusterTools, folder: string, password: string): Promise<void> {
  // Only this user can read the run directory.
  const passwordFile = join(tools.runDir, 'password')
  await writeDurably(passwordFile, password, tools.runAs)
  const initdb = spawn(
    tools.binaries.initdb,
    initdbArguments({
      folder: folderArgument(folder, tools.runAs),
      passwordFile,
      sync: tools.sync,
    }),
    { ...spawnIn(folder, tools.runAs), stdio: ['ignore', 'ignore', 'pipe'], windowsHide: true },
  )
  const [complaint, [code]] = await Promise.all([text(initdb.stderr), once(initdb, 'exit')])
  await rm(passwordFile)
  if (code === 0) return
  await rm(folder, { recursive: true, force: true })
  const hint = /could not look up effective user ID/.test(complaint)
    ? ' The user who runs Paybell needs an entry in /etc/passwd; or use DATABASE_URL.'
    : ''
  throw new Error(`PostgreSQL could not make a database in ${folder}: ${complaint.trim()}${hint}`)
}

async function checkCluster(dir: string, ownerUid: number, runAs: RunAs): Promise<void> {
  const me = process.getuid?.()
  if (me !== undefined && me !== 0 && ownerUid !== me) {
    throw new Error(
      `The database in ${dir} belongs to user ${ownerUid} and Paybell runs as user ${me}: root ` +
        'may have started it before. Start it as root or as its owner, or choose another ' +
        'directory (PAYBELL_DATA_DIR).',
    )
  }
  const version = await readFile(join(dir, 'PG_VERSION'), 'utf8').catch(() => undefined)
  if (version === undefined) throw new Error(`${dir} is there but is not a database: look at it`)
  if (version.trim() !== MAJOR_VERSION) {
    throw new Error(
      `${dir} was made by PostgreSQL ${version.trim()} and this Paybell brings ${MAJOR_VERSION}: ` +
        'export it with the Paybell that made it, or choose another directory (PAYBELL_DATA_DIR).',
    )
  }
  // Root may have copied or restored it; PostgreSQL insists on its own user and on a private mode.
  if (runAs && ownerUid !== runAs.uid) await giveTree(dir, runAs)
  await chmod(dir, 0o700)
}

/** `state` in pg_control: 8 bytes of system id, two 4-byte versions, then 1 for "shut down". */
async function readState(dir: string): Promise<ClusterState> {
  const control = await readFile(join(dir, 'global', 'pg_control'))
  const state = endianness() === 'LE' ? control.readInt32LE(16) : control.readInt32BE(16)
  return state === 1 ? 'clean' : 'crashed'
}

async function readPassword(dir: string): Promise<string> {
  const file = join(dir, PASSWORD_FILE)
  return readFile(file, 'utf8').catch((cause) => {
    throw new Error(`The database cannot be opened without its password in ${file}`, { cause })
  })
}

async function removeUnfinished(dataDir: string): Promise<void> {
  const names = await readdir(dataDir)
  for (const name of names.filter((name) => name.startsWith(UNFINISHED))) {
    await endProcessesIn(join(dataDir, name), () => {})
    await rm(join(dataDir, name), { recursive: true, force: true, maxRetries: 5 })
  }
}

async function writeDurably(file: string, content: string, runAs: RunAs): Promise<void> {
  await writeFile(file, content, { mode: 0o600, flag: 'wx', flush: true })
  if (runAs) await lchown(file, runAs.uid, runAs.gid)
}

async function syncFolder(folder: string): Promise<void> {
  // Windows can neither open nor flush a folder.
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  await handle.sync().finally(() => handle.close())
}
