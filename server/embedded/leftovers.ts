// Cleans up what a crash has left in the cluster. Two servers on one cluster would destroy it, so every
// process of ours is gone before the next start; a process that merely got the number of a dead
// postmaster is neither killed nor waited for.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from './log.ts'

const FAST_MS = 10_000
const IMMEDIATE_MS = 5_000
const POLL_MS = 20
const PROGRAMS = new Set(['postgres', 'initdb'])

/** Ends every process of PostgreSQL on this folder; true when there was one. */
export async function endProcessesIn(folder: string, log: Log): Promise<boolean> {
  const pids = findProcesses(folder)
  if (pids.length === 0) return false
  const postmaster = pids.find((pid) => pid === readPostmasterPid(folder))
  log({ msg: 'embedded.leftovers-found', folder, postmaster, processes: pids.length })
  // A postmaster gets a fast, orderly shutdown. Without one its children have nothing to finish.
  if (postmaster !== undefined) {
    send(postmaster, 'SIGINT')
    if (await areGone(folder, FAST_MS)) return true
  }
  for (const signal of ['SIGQUIT', 'SIGKILL'] as const) {
    for (const pid of findProcesses(folder)) send(pid, signal)
    if (await areGone(folder, IMMEDIATE_MS)) return true
  }
  throw new Error(
    `PostgreSQL still runs on ${folder} and cannot be ended: ${findProcesses(folder).join(', ')}`,
  )
}

/** Call when nothing runs on the folder. PostgreSQL removes the file of a dead postmaster by itself, but
 *  trusts one whose number now belongs to some other process of the same user. */
export async function removeStalePidFile(folder: string, log: Log): Promise<void> {
  const pid = readPostmasterPid(folder)
  if (pid === undefined || !isAlive(pid)) return
  log({ msg: 'embedded.stale-pid-file-removed', pid })
  await rm(join(folder, 'postmaster.pid'), { force: true })
}

/** The first line of postmaster.pid. */
function readPostmasterPid(folder: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')[0])
    return Number.isInteger(pid) && pid > 1 ? pid : undefined
  } catch {
    return undefined
  }
}

/** Every process of PostgreSQL has its cluster as working directory. That is more reliable than a number
 *  in a file, and it finds the children that outlive a killed postmaster for a second or two. */
export function findProcesses(folder: string): number[] {
  if (process.platform === 'linux') {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    return pids.filter((pid) => worksIn(pid, folder)).map(Number)
  }
  // Other systems: only the postmaster, by its command line. Its children are left to PostgreSQL's own
  // check of the shared memory, which refuses to start while they exist.
  const pid = readPostmasterPid(folder)
  return pid !== undefined && commandOf(pid).includes(folder) ? [pid] : []
}

function worksIn(pid: string, folder: string): boolean {
  try {
    if (!PROGRAMS.has(readFileSync(`/proc/${pid}/comm`, 'utf8').trim())) return false
    // By inode, because a mount can give one folder two paths.
    const found = statSync(`/proc/${pid}/cwd`, { bigint: true })
    const wanted = statSync(folder, { bigint: true })
    return found.ino === wanted.ino && found.dev === wanted.dev
  } catch {
    return false // It has ended, or belongs to another user.
  }
}

function commandOf(pid: number): string {
  if (process.platform === 'win32') return ''
  const command = spawnSync('ps', ['-o', 'command=', '-p', `${pid}`], { encoding: 'utf8' }).stdout
  return command?.includes('postgres') ? command : ''
}

async function areGone(folder: string, limitMs: number): Promise<boolean> {
  const deadline = performance.now() + limitMs
  while (findProcesses(folder).length > 0) {
    if (performance.now() > deadline) return false
    await delay(POLL_MS)
  }
  return true
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
