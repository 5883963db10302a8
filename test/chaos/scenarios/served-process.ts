// One `paybell serve` of a scenario, with production's own durations. It is ended by its own id.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { until } from '../../support/until.ts'

const READY_MS_MAX = 60_000
const PRINTED_MAX = 200_000

export class ServedProcess {
  readonly exit: Promise<number | NodeJS.Signals | null>
  baseUrl = ''
  readonly #child: ChildProcess
  #printed = ''

  constructor(command: string, env: Readonly<Record<string, string>>) {
    this.#child = spawn(process.execPath, [command, 'serve'], {
      env: { ...inherited(), PORT: '0', PAYBELL_DRAIN_SECONDS: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#printed = `${this.#printed}${text}`.slice(-PRINTED_MAX)
      })
    }
    this.exit = once(this.#child, 'exit').then(([code, signal]) => code ?? signal)
  }

  /** The last of its log. */
  get printed(): string {
    return this.#printed
  }

  get pid(): number {
    return this.#child.pid as number
  }

  async untilReady(): Promise<void> {
    this.baseUrl = await until(
      'paybell serves',
      () => {
        const { exitCode, signalCode } = this.#child
        if (exitCode !== null || signalCode !== null) throw new Error(this.#printed.slice(-4_000))
        return /"baseUrl":"([^"]+)","msg":"paybell\.ready"/.exec(this.#printed)?.[1]
      },
      READY_MS_MAX,
    )
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Sends the signal and waits for the end. */
  async end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null> {
    this.#child.kill(signal)
    // One that was stopped by SIGSTOP ends only by SIGKILL.
    return this.exit
  }
}

/** Without settings that the machine happens to have. */
export function inherited(): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(PAYBELL_|DATABASE_URL|PORT$|HOST$|NODE_TEST_CONTEXT|NODE_OPTIONS)/.test(name),
    ),
  )
}
