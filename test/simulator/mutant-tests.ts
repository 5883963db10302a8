// Mutants that a test catches: the test that is meant runs on a patched copy of the service. All of them
// share one PostgreSQL server, and its template, which the original service has migrated.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { startTestServer, type TestServer } from '../support/test-server.ts'
import type { TestedMutant } from './mutant.ts'
import { copyWith, type Patch, PROJECT } from './patched-copy.ts'

/** What the service's own tests need around them. */
const PARTS = ['server', 'migrations', 'test/conformance', 'test/simulator', 'test/support']

export class MutantTests {
  #server: Promise<TestServer> | null = null
  readonly #sound = new Set<string>()

  /** The first failure of the mutant's test, or null when all of it passes. */
  async failureOf({ patches, test }: TestedMutant): Promise<string | null> {
    if (!this.#sound.has(test)) {
      const failure = await this.#run(test, [])
      if (failure !== null) throw new Error(`${test} fails without any fault: ${failure}`)
      this.#sound.add(test)
    }
    const failure = await this.#run(test, patches)
    return failure && `${test}: ${failure}`
  }

  async stop(): Promise<void> {
    const server = await this.#server
    await server?.stop()
  }

  async #run(test: string, patches: readonly Patch[]): Promise<string | null> {
    this.#server ??= startTestServer()
    const { url } = await this.#server
    // The original is there, with what was compiled of it before.
    if (patches.length === 0) return firstFailure(test, PROJECT, url)
    const { root, remove } = await copyWith(patches, PARTS)
    try {
      return await firstFailure(test, root, url)
    } finally {
      await remove()
    }
  }
}

/** What comes after the first failure says no more, and may be a minute of waiting for each test: the process ends there. */
async function firstFailure(test: string, root: string, serverUrl: string): Promise<string | null> {
  const args = ['--test', '--test-isolation=none', '--test-reporter=tap', '--test-timeout=60000']
  const child = spawn(process.execPath, [...args, test], {
    cwd: root,
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, PAYBELL_TEST_SERVER_URL: serverUrl },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let tap = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    tap += text
    if (FAILURE.test(tap)) child.kill('SIGKILL')
  })
  const [code] = await once(child, 'close')
  if (code === 0) return null
  // A statement that is no longer SQL would prove nothing.
  if (/^ *code: '42\d\d\d'$/m.test(tap)) throw new Error(`a patch broke the SQL:\n${tap}`)
  return FAILURE.exec(tap)?.groups?.name ?? 'the file fails'
}

/** With all that is said of it. */
const FAILURE = /^ *not ok \d+ - (?<name>.*)\n *---\n(?:.*\n)*? *\.\.\.$/m
