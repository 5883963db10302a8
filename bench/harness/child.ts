// A process of the benchmark that answers calls over IPC. It is ended by its pid, and never outlives
// its parent: a child that loses its channel ends by itself.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

interface Answer {
  id: number
  result?: unknown
  error?: string
}

export interface ChildOptions {
  args?: readonly string[]
  env?: Readonly<Record<string, string | undefined>>
  /** Runs on this core alone. */
  core?: number | undefined
  onEvent?: (event: Record<string, unknown>) => void
}

export class Child {
  readonly pid: number
  readonly #process: ChildProcess
  readonly #calls = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  readonly #exit: Promise<unknown>
  #nextId = 1

  constructor(script: URL, options: ChildOptions = {}) {
    const command = [process.execPath, fileURLToPath(script), ...(options.args ?? [])]
    // taskset becomes the process it starts: the pid stays the same.
    if (options.core !== undefined) command.unshift('taskset', '-c', String(options.core))
    this.#process = spawn(command[0] as string, command.slice(1), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      serialization: 'advanced',
      env: { ...process.env, ...options.env },
    })
    this.pid = this.#process.pid as number
    this.#exit = once(this.#process, 'exit').then(([code]) => {
      const error = new Error(`${script.pathname} ended with ${code}`)
      for (const call of this.#calls.values()) call.reject(error)
      this.#calls.clear()
    })
    this.#process.on('message', (message) => {
      const answer = message as Answer & { event?: string }
      if (answer.event !== undefined) options.onEvent?.(message as Record<string, unknown>)
      else this.#settle(answer)
    })
  }

  call<T>(method: string, ...params: readonly unknown[]): Promise<T> {
    const id = this.#nextId++
    return new Promise<T>((resolve, reject) => {
      this.#calls.set(id, { resolve: resolve as (value: unknown) => void, reject })
      this.#process.send({ id, method, params }, (error) => {
        if (error) reject(error)
      })
    })
  }

  /** No answer is waited for. */
  tell(method: string, ...params: readonly unknown[]): void {
    if (this.#process.connected) this.#process.send({ id: 0, method, params }, () => {})
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      this.#process.kill('SIGTERM')
      const timer = setTimeout(() => this.#process.kill('SIGKILL'), 5_000)
      await this.#exit
      clearTimeout(timer)
    }
  }

  #settle({ id, result, error }: Answer): void {
    const call = this.#calls.get(id)
    this.#calls.delete(id)
    if (error === undefined) call?.resolve(result)
    else call?.reject(new Error(error))
  }
}
