// A program that is no part of this project, started from a path that the command line gives: on loopback, with a
// folder of its own, ended by its pid. What it prints is kept, to be shown where it does not start.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { treeCpuSeconds } from '../harness/cpu.ts'

const START_LIMIT_MS = 90_000
const STOP_LIMIT_MS = 10_000
const PRINTED_MAX = 4_000

export type Environment = Readonly<Record<string, string>>

export class Binary {
  readonly #process: ChildProcess
  #printed = ''

  constructor(path: string, args: readonly string[], env: Environment, cwd: string) {
    this.#process = spawn(path, args, {
      cwd,
      env: { PATH: process.env.PATH, HOME: cwd, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const keep = (chunk: Buffer) => {
      this.#printed = (this.#printed + chunk.toString()).slice(-PRINTED_MAX)
    }
    this.#process.stdout?.on('data', keep)
    this.#process.stderr?.on('data', keep)
    this.#process.on('error', (error) => keep(Buffer.from(String(error))))
  }

  get pid(): number {
    return this.#process.pid ?? 0
  }

  cpuSeconds(): number {
    return treeCpuSeconds(this.pid)
  }

  /** Until it answers there, whatever the status. */
  async untilAnswers(url: string): Promise<void> {
    for (const limit = Date.now() + START_LIMIT_MS; ; await delay(50)) {
      if (await fetch(url).catch(() => null)) return
      if (this.#hasEnded() || Date.now() > limit) {
        throw new Error(`${this.#process.spawnfile} did not start: ${this.#printed}`)
      }
    }
  }

  async stop(): Promise<void> {
    if (this.#hasEnded()) return
    const ended = once(this.#process, 'exit')
    this.#process.kill('SIGTERM')
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), STOP_LIMIT_MS)
    await ended
    clearTimeout(timer)
  }

  #hasEnded(): boolean {
    const { pid, exitCode, signalCode } = this.#process
    return pid === undefined || exitCode !== null || signalCode !== null
  }
}

/** Runs to its end; what it printed. */
export async function runBinary(
  path: string,
  args: readonly string[],
  env: Environment,
  cwd: string,
): Promise<string> {
  const run = promisify(execFile)
  const { stdout } = await run(path, args, {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, ...env },
    timeout: START_LIMIT_MS,
  })
  return stdout
}

/** A call of a peer's own interface while it is set up; anything but 2xx is an error. */
export async function callJson<T>(
  method: string,
  url: string,
  bearer: string,
  body?: object,
): Promise<T> {
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text.slice(0, 300)}`)
  return JSON.parse(text) as T
}
