// Mutants that a test catches: the test that is meant runs on a patched copy of the service. All of them
// share one PostgreSQL server, and its template, which the original service has migrated.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { limitOf } from '../support/busy-machine.ts'
import { startTestServer, type TestServer } from '../support/test-server.ts'
import { refuseBroken } from './broken-fault.ts'
import type { ChangedFiles } from './mutated-files.ts'
import { copyWith, PROJECT } from './patched-copy.ts'

/** What the service's own tests need around them. */
const PARTS = ['server', 'migrations', 'test/conformance', 'test/simulator', 'test/support']

/** How long one test of the file may take on an idle machine; with a fault that makes it wait for ever, some times as long as
 *  all of them took without. A limit that is too short for a busy one would count as a catch. */
const TEST_MS_MAX = 60_000
const FAULTY_TEST_MS_MIN = 10_000
const FAULTY_TIMES = 5

export function faultyTestMsMax(soundMs: number, limit = limitOf): number {
  const msMax = Math.max(limit(FAULTY_TEST_MS_MIN), FAULTY_TIMES * soundMs)
  return Math.min(msMax, limit(TEST_MS_MAX))
}

export class MutantTests {
  #server: Promise<TestServer> | null = null
  readonly #soundMs = new Map<string, number>()
  readonly #signal: AbortSignal

  /** The signal ends what runs. */
  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  /** The first failure of a mutant's test, or null when all of it passes. */
  async failureOf(changed: ChangedFiles, test: string): Promise<string | null> {
    const soundMs = this.#soundMs.get(test) ?? (await this.#timeSound(test))
    const failure = await this.#run(test, changed, faultyTestMsMax(soundMs))
    return failure && `${test}: ${failure}`
  }

  async #timeSound(test: string): Promise<number> {
    const startedAt = performance.now()
    const failure = await this.#run(test, null, limitOf(TEST_MS_MAX))
    if (failure !== null) throw new Error(`${test} fails without any fault: ${failure}`)
    const tookMs = performance.now() - startedAt
    this.#soundMs.set(test, tookMs)
    return tookMs
  }

  async stop(): Promise<void> {
    const server = await this.#server
    await server?.stop()
  }

  async #run(
    test: string,
    changed: ChangedFiles | null,
    testMsMax: number,
  ): Promise<string | null> {
    this.#server ??= startTestServer()
    const { url } = await this.#server
    // The original is there, with what was compiled of it before.
    if (changed === null) return this.#firstFailure(test, PROJECT, url, testMsMax)
    const { root, remove } = await copyWith(changed, PARTS)
    try {
      return await this.#firstFailure(test, root, url, testMsMax)
    } finally {
      await remove()
    }
  }

  /** What comes after the first failure says no more, and may be a minute of waiting for each test: the process ends there. */
  async #firstFailure(
    test: string,
    root: string,
    serverUrl: string,
    testMsMax: number,
  ): Promise<string | null> {
    const args = ['--test', '--test-isolation=none', '--test-reporter=tap']
    args.push(`--test-timeout=${Math.ceil(testMsMax)}`, test)
    const child = spawn(process.execPath, args, {
      cwd: root,
      env: { ...process.env, NODE_TEST_CONTEXT: undefined, PAYBELL_TEST_SERVER_URL: serverUrl },
      stdio: ['ignore', 'pipe', 'ignore'],
      signal: this.#signal,
      killSignal: 'SIGKILL',
    })
    let tap = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      tap += text
      if (FAILURE.test(tap)) child.kill('SIGKILL')
    })
    const [code] = await once(child, 'close')
    if (code === 0) return null
    // A statement that is no longer SQL would prove nothing.
    if (/^ *code: '42\d\d\d'$/m.test(tap)) throw new Error(`a mutant broke the SQL:\n${tap}`)
    const failure = FAILURE.exec(tap)
    refuseBroken(failure?.[0] ?? tap)
    return failure?.groups?.name ?? 'the file fails'
  }
}

/** With all that is said of it. */
const FAILURE = /^ *not ok \d+ - (?<name>.*)\n *---\n(?:.*\n)*? *\.\.\.$/m
