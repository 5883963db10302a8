// A process that runs test files (test/worker.ts), seen from the process that hands them out.

import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { limitOf } from './support/busy-machine.ts'
import type { TestNews } from './support/test-events.ts'
import type { FileToRun } from './worker.ts'

const WORKER = fileURLToPath(new URL('worker.ts', import.meta.url))
const CONTEXTS = fileURLToPath(new URL('support/test-contexts.ts', import.meta.url))
const REPORTER = fileURLToPath(new URL('support/test-events.ts', import.meta.url))

/** How long a process may take to end when it has no more files: a timer that was left would keep it for ever. */
const END_MS_MAX = 60_000

export type TestResult = Exclude<TestNews, { kind: 'file' }>

export class WorkerProcess {
  readonly #child: ChildProcess
  readonly #closed: Promise<string>
  /** A process whose tests have failed ends with 1. */
  #hasFailed = false
  #onResult: (result: TestResult) => void = () => {}
  #onFileEnd: () => void = () => {}
  #printed = ''
  hasEnded = false
  /** What it held when the last file ended. */
  bytes = 0
  /** What it and its children had used by then. */
  cpuSeconds = 0

  constructor() {
    const args = [`--import=${CONTEXTS}`, `--test-reporter=${REPORTER}`]
    this.#child = spawn(process.execPath, [...args, WORKER], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // A group of its own, which ends with it: services that its tests have started are in it.
      detached: true,
      // Under `node --test` it would tell that process alone.
      env: { ...process.env, NODE_TEST_CONTEXT: undefined },
    })
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#printed += text
      })
    }
    this.#child.on('message', (news: TestNews) => {
      if (news.kind !== 'file') return this.#tell(news)
      this.bytes = news.processBytes
      this.cpuSeconds = news.cpuSeconds
      this.#onFileEnd()
    })
    this.#closed = new Promise((resolve) => {
      this.#child.once('close', (code, signal) => {
        this.hasEnded = true
        resolve(`the process of this file ended with ${code ?? signal}`)
      })
    })
  }

  /**
   * Resolves with what the file printed, when all its tests have ended. Node's own limit would hold for the
   * file as a whole, so this one stands here: the longest that no test ends.
   */
  async run(
    file: string,
    testMsMax: number,
    onResult: (result: TestResult) => void,
  ): Promise<string> {
    this.#printed = ''
    const stall = () => {
      if (performance.now() - lastNewsAt < limitOf(testMsMax)) return
      this.#printed += `\nno test ended for ${limitOf(testMsMax) / 1_000} s`
      this.#signalAll('SIGKILL')
    }
    const watch = setInterval(stall, 1_000)
    let lastNewsAt = performance.now()
    this.#onResult = (result) => {
      lastNewsAt = performance.now()
      onResult(result)
    }
    const fileEnd = new Promise<null>((resolve) => {
      this.#onFileEnd = () => resolve(null)
    })
    this.#send({ file })
    const failure = await Promise.race([fileEnd, this.#closed])
    clearInterval(watch)
    if (failure !== null) this.#tell({ kind: 'failed', name: file, where: '', error: failure })
    return this.#printed
  }

  /** Failures of what runs outside of any file, such as a last clean-up, are still reported. */
  async end(onResult: (result: TestResult) => void): Promise<void> {
    if (this.hasEnded) return
    this.#onResult = onResult
    this.#printed = ''
    const fail = (error: string) =>
      this.#tell({ kind: 'failed', name: 'the end of the process', where: '', error })
    this.#send({ file: null })
    const late = setTimeout(() => {
      const what =
        this.#child.exitCode === null ? 'did not end' : 'ended, but not all that it started'
      fail(`a test has left something running: its process ${what}\n${this.#printed}`)
      this.#signalAll('SIGKILL')
    }, limitOf(END_MS_MAX))
    const how = await this.#closed
    clearTimeout(late)
    if (this.#child.exitCode !== 0 && !this.#hasFailed) fail(`${how}\n${this.#printed}`)
  }

  /** With what its tests have started: a sandbox then stops its database in order. */
  kill(): void {
    this.#signalAll('SIGTERM')
  }

  #tell(result: TestResult): void {
    this.#hasFailed ||= result.kind === 'failed'
    this.#onResult(result)
  }

  #signalAll(signal: NodeJS.Signals): void {
    if (this.hasEnded || this.#child.pid === undefined) return
    process.kill(-this.#child.pid, signal)
  }

  #send(message: FileToRun): void {
    if (this.#child.connected) this.#child.send(message)
  }
}
