// PostgreSQL refuses to run as root. Started by root, it runs as the owner of the cluster, and a new
// cluster belongs to the account `nobody`, not to `postgres`, which may own the machine's other
// databases: a sandbox must not have access to their files.
import { spawnSync } from 'node:child_process'
import { lchown, lstat, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Undefined means: as the user who runs Paybell. */
export type RunAs = { uid: number; gid: number } | undefined

/** What `spawn` needs to run a program of PostgreSQL inside a folder, as that user. */
export function spawnIn(folder: string, runAs: RunAs) {
  // Without the caller's environment: its PGDATA, PGOPTIONS or locale would change the server.
  const env = process.platform === 'win32' ? undefined : { LC_ALL: 'C' }
  return { cwd: folder, ...(env && { env }), ...runAs }
}

/** The same folder, as an argument. Node changes to the working directory before it drops root, so
 *  /proc/self/cwd reaches a cluster below a folder that the user may not enter, such as /root. */
export function folderArgument(folder: string, runAs: RunAs): string {
  return runAs && process.platform === 'linux' ? '/proc/self/cwd' : folder
}

export async function chooseRunAs(dataDir: string, clusterDir: string): Promise<RunAs> {
  if (process.getuid?.() !== 0) return undefined
  const chosen = (await ownerOf(clusterDir)) ?? (await newOwner(dataDir))
  if (chosen && canBecome(chosen)) return chosen
  const obstacle = chosen
    ? `Paybell is not allowed to become user ${chosen.uid} here`
    : 'this machine has no user "nobody"'
  throw new Error(
    `PostgreSQL does not run as root, and ${obstacle}. Start Paybell as an ordinary user, or give ` +
      'it a database with DATABASE_URL.',
  )
}

async function ownerOf(clusterDir: string): Promise<RunAs> {
  const cluster = await lstat(clusterDir).catch(() => undefined)
  return cluster && cluster.uid !== 0 ? { uid: cluster.uid, gid: cluster.gid } : undefined
}

/** If root works in another user's folder, the cluster becomes that user's, who can then start it too.
 *  Only for accounts with an entry, because `initdb` looks its user up. */
async function newOwner(dataDir: string): Promise<RunAs> {
  const accounts = parsePasswd(await readFile('/etc/passwd', 'utf8'))
  const owner = accounts.get((await stat(dataDir)).uid)
  const nobody = [...accounts.values()].find((account) => account.name === 'nobody')
  const chosen = owner && owner.uid !== 0 ? owner : nobody
  return chosen && { uid: chosen.uid, gid: chosen.gid }
}

// A container may lack the right to change users, or know no other user than root.
function canBecome(runAs: RunAs): boolean {
  return spawnSync('/bin/sh', ['-c', ':'], { ...runAs, cwd: '/' }).status === 0
}

export function parsePasswd(text: string) {
  const accounts = text
    .split('\n')
    .map((line) => line.split(':'))
    .filter((fields) => fields.length >= 7)
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
  return new Map(accounts.map((account) => [account.uid, account]))
}

/** Gives a tree to the user. Links are changed themselves and never followed. */
export async function giveTree(path: string, runAs: RunAs): Promise<void> {
  if (!runAs) return
  await lchown(path, runAs.uid, runAs.gid)
  const entries = await readdir(path, { withFileTypes: true })
  for (const entry of entries) {
    const child = join(path, entry.name)
    if (entry.isDirectory()) await giveTree(child, runAs)
    else await lchown(child, runAs.uid, runAs.gid)
  }
}

/** Files that root makes in another user's folder become that user's, who may start Paybell there next. */
export async function giveToOwnerOf(folder: string, names: string[]): Promise<void> {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = await stat(folder)
  for (const name of names) await lchown(join(folder, name), uid, gid)
}
