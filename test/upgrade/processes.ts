// The processes of a rehearsal: `paybell serve` of the version before and of this one, on one database. Each
// is ended by its own id.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Pool } from 'pg'
import { limitOf } from '../support/busy-machine.ts'
import { until } from '../support/until.ts'

export const VERSIONS = ['old', 'new'] as const
export type Version = (typeof VERSIONS)[number]

const NEW_COMMAND = fileURLToPath(new URL('../../cli/main.ts', import.meta.url))
const READY_MS_MAX = 60_000

export interface Served {
  version: Version
  baseUrl: string
  child: ChildProcess
  exit: Promise<number | NodeJS.Signals | null>
}

export class Processes {
  readonly #env: Readonly<Record<string, string | undefined>>
  readonly #commands: Record<Version, string>
  readonly #pool: Pool
  readonly running = new Set<Served>()

  constructor(oldCommand: string, env: Readonly<Record<string, string>>, pool: Pool) {
    this.#commands = { old: oldCommand, new: NEW_COMMAND }
    this.#env = { ...inherited(), ...env }
    this.#pool = pool
  }

  /** Starts one and waits until it serves, and until every process has its share of the shards. */
  async start(version: Version): Promise<Served> {
    const child = this.#spawn(version, 'serve')
    const printed = collect(child)
    const exit = once(child, 'exit').then(([code, signal]) => code ?? signal)
    const ready = until(
      `${version} serves`,
      () => /"baseUrl":"([^"]+)","msg":"paybell\.ready"/.exec(printed())?.[1],
      READY_MS_MAX,
    )
    const baseUrl = await Promise.race([
      ready,
      exit.then((code) => {
        throw new Error(`${version} ended with ${code} before it was ready:\n${printed()}`)
      }),
    ])
    const served = { version, baseUrl, child, exit }
    this.running.add(served)
    await this.#untilShared()
    return served
  }

  /** With SIGTERM as an upgrade does, or with SIGKILL as a crash does. */
  async end(served: Served, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    this.running.delete(served)
    served.child.kill(signal)
    const code = await served.exit
    if (signal === 'SIGTERM' && code !== 0) throw new Error(`${served.version} ended with ${code}`)
    // What a killed one held keeps its name until another one takes it over.
    if (signal === 'SIGKILL' && this.running.size > 0) await this.#untilShared()
  }

  /** Runs a command of this version to its end. Returns what it printed. */
  async run(version: Version, ...args: string[]): Promise<string> {
    const child = this.#spawn(version, ...args)
    const printed = collect(child)
    const [code] = await once(child, 'exit')
    if (code !== 0) throw new Error(`paybell ${args.join(' ')} ended with ${code}:\n${printed()}`)
    return printed()
  }

  async endAll(): Promise<void> {
    const all = [...this.running]
    this.running.clear()
    for (const { child } of all) child.kill('SIGTERM')
    const impatience = setTimeout(() => {
      for (const { child } of all) child.kill('SIGKILL')
    }, limitOf(25_000))
    await Promise.all(all.map(({ exit }) => exit))
    clearTimeout(impatience)
  }

  #spawn(version: Version, ...args: string[]): ChildProcess {
    return spawn(process.execPath, [this.#commands[version], ...args], {
      env: this.#env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }

  async #untilShared(): Promise<void> {
    await until(
      'every process has shards',
      async () => {
        const { rows } = await this.#pool.query<{ owners: number; held: number }>(
          'select count(distinct owner)::int as owners, count(owner)::int as held from paybell.leases',
        )
        return rows[0]?.owners === this.running.size && rows[0]?.held === 64
      },
      READY_MS_MAX,
    )
  }
}

/** The last of what it prints: at level info there is a line for every request. */
function collect(child: ChildProcess): () => string {
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      printed = `${printed}${text}`.slice(-20_000)
    })
  }
  return () => printed
}

/** Without settings that the machine of the tests happens to have. */
function inherited(): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(PAYBELL_|DATABASE_URL|PORT$|HOST$|NODE_TEST_CONTEXT|NODE_OPTIONS)/.test(name),
    ),
  )
}
