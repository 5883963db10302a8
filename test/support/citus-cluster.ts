// A Citus cluster of a test's own, whose nodes it may kill. PAYBELL_CITUS names a folder with a `start` that prints the variables
// of a new cluster as lines of a shell, and a `stop`. Run by itself, as `kill` or `revive` with the cluster's folder and the port
// of a node, it does that to the node of another process.

import { execFile, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
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
  /** With the data of its servers. */
  dir: string
  /** For a program that kills a worker, by its port, and starts it again. */
  commandsFor(port: number): { kill: string; revive: string }
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
  const command = (what: string, port: number) =>
    [process.execPath, fileURLToPath(import.meta.url), what, dir, port].join(' ')
  return {
    url: variable('PAYBELL_TEST_CITUS_URL'),
    dir,
    commandsFor: (port) => ({ kill: command('kill', port), revive: command('revive', port) }),
    killNode: async (port) => {
      await killNode(dir, port)
      return () => reviveNode(dir, port)
    },
  }
}

interface Node {
  data: string
  pid: number
  postgres: string
}

/** Running or killed: its files stay. */
async function findNode(dir: string, port: number): Promise<Node> {
  for (const name of ['first', 'second']) {
    const data = join(dir, name)
    // PostgreSQL writes its pid, its folder, when it began, and its port; beside it, how it was started.
    const lines = (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n')
    if (Number(lines[3]) !== port) continue
    const [postgres = ''] = (await readFile(join(data, 'postmaster.opts'), 'utf8')).split(' ')
    return { data, pid: Number(lines[0]), postgres }
  }
  throw new Error(`no node at port ${port}`)
}

async function killNode(dir: string, port: number): Promise<void> {
  const { pid } = await findNode(dir, port)
  process.kill(pid, 'SIGKILL')
  await until('the node is gone', () => !isRunning(pid))
}

async function reviveNode(dir: string, port: number): Promise<void> {
  const { data, postgres } = await findNode(dir, port)
  const account = ['--reuid', 'postgres', '--regid', 'postgres', '--init-groups']
  // Until the last process of the dead server is gone, a new one refuses to start.
  await until('the node is back', () => tryToStart([...account, postgres, '-D', data], dir))
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

if (import.meta.main) {
  const [what, dir = '', port] = process.argv.slice(2)
  const act = what === 'kill' ? killNode : reviveNode
  await act(dir, Number(port))
}
