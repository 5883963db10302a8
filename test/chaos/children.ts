// The processes of a run: each is started with its order in the environment, spoken to over a pipe, and
// ended by its own id.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export type Exit = number | NodeJS.Signals | null

export interface ChildOptions {
  file: 'service.ts' | 'receivers.ts'
  env: Record<string, string>
  preload?: string
}

export class Child {
  readonly exit: Promise<Exit>
  readonly #process: ChildProcess
  #stderr = ''

  constructor(options: ChildOptions, onMessage: (message: unknown) => void) {
    const preload = options.preload ? ['--import', fileOf(options.preload)] : []
    this.#process = spawn(process.execPath, [...preload, fileOf(options.file)], {
      env: { ...inherited(), ...options.env },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    this.#process.stderr?.on('data', (chunk) => {
      this.#stderr = `${this.#stderr}${chunk}`.slice(-4_000)
    })
    this.#process.on('message', onMessage)
    this.exit = once(this.#process, 'exit').then(([code, signal]) => code ?? signal)
  }

  get stderr(): string {
    return this.#stderr
  }

  get isRunning(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null
  }

  send(message: object): void {
    if (this.#process.connected) this.#process.send(message, () => {})
  }

  signal(signal: NodeJS.Signals): void {
    if (this.isRunning) this.#process.kill(signal)
  }
}

function fileOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}

/** Without settings that the machine of the tests happens to have. */
function inherited(): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(PAYBELL_|DATABASE_URL|PORT$|HOST$|NODE_TEST_CONTEXT|NODE_OPTIONS)/.test(name),
    ),
  )
}
