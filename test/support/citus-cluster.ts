// A Citus cluster of a test's own, whose nodes it may kill. PAYBELL_CITUS names a folder with a `start` that prints the variables
// of a new cluster as lines of a shell, and a `stop`.

import { execFile, spawn } from 'node:child_process'
import { readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Owner } from './owner.ts'
import { isRunning } from './postmaster.ts'
import { until } from './until.ts'

const run = promisify(execFile)

/** Why there is none; false where one can be started. */
export const NO_CITUS =
  process.env.PAYBELL_CITUS === undefined && 'PAYBELL_CITUS names no folder with Citus'

export interface CitusCluster {
  /** A database of the coordinator. */
  url: string
  /** Ends a worker at once, by its port; returns how to start it again. */
  killNode(port: number): Promise<() => Promise<unknown>>
}

export async function startCitus(t: Owner): Promise<CitusCluster> {
  const folder = process.env.PAYBELL_CITUS as string
  const { stdout } = await run(join(folder, 'start'))
  const variable = (name: string) => {
    const [, value] = new RegExp(`${name}=(\\S+)`).exec(stdout) ?? []
    if (value === undefined) throw new Error(`no ${name} in ${stdout}`)
    return value
  }
  const dir = variable('CITUS_DIR')
  t.after(async () => {
    await run(join(folder, 'stop'), { env: { ...process.env, CITUS_DIR: dir } })
  })
  return { url: variable('PAYBELL_TEST_CITUS_URL'), killNode: (port) => killNode(dir, port) }
}

async function killNode(dir: string, port: number): Promise<() => Promise<unknown>> {
  for (const name of ['first', 'second']) {
    const data = join(dir, name)
    // PostgreSQL writes its pid, its folder, when it began, and its port.
    const lines = (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n')
    const [pid, ownPort] = [Number(lines[0]), Number(lines[3])]
    if (ownPort !== port) continue
    const postgres = await readlink(`/proc/${pid}/exe`)
    process.kill(pid, 'SIGKILL')
    await until('the node is gone', () => !isRunning(pid))
    const account = ['--reuid', 'postgres', '--regid', 'postgres', '--init-groups']
    // Until the last process of the dead server is gone, a new one refuses to start.
    return () =>
      until('the node is back', () => tryToStart([...account, postgres, '-D', data], dir))
  }
  throw new Error(`no node at port ${port}`)
}

/** The eighth line of its file says what a server is doing. */
async function tryToStart(command: readonly string[], dir: string): Promise<boolean> {
  const data = command.at(-1) as string
  const node = spawn('setpriv', command, {
    cwd: dir,
    env: { ...process.env, HOME: dir },
    detached: true,
    stdio: 'ignore',
  })
  node.unref()
  return until('it is ready, or refuses', async () => {
    if (node.exitCode !== null) return 'refused'
    const file = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')
    const [pid, , , , , , , state] = file.split('\n')
    return Number(pid) === node.pid && state?.trim() === 'ready' && 'ready'
  }).then((state) => state === 'ready')
}
