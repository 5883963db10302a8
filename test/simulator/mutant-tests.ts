// Mutants that a test catches: the test that is meant runs on a patched copy of the service. All of them
// share one PostgreSQL server, and its template, which the original service has migrated.

import { execFile } from 'node:child_process'
import { startTestServer, type TestServer } from '../support/test-server.ts'
import type { TestedMutant } from './mutant.ts'
import { copyWith, type Patch } from './patched-copy.ts'

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
    const { root, remove } = await copyWith(patches, PARTS)
    try {
      const args = ['--test', '--test-reporter=tap', '--test-timeout=60000', test]
      const env = {
        ...process.env,
        NODE_TEST_CONTEXT: undefined,
        PAYBELL_TEST_SERVER_URL: url,
      }
      return await new Promise<string | null>((resolve) => {
        execFile(process.execPath, args, { cwd: root, env, maxBuffer: 1e8 }, (error, output) =>
          resolve(error === null ? null : output),
        )
      }).then((output) => output && firstFailure(output))
    } finally {
      await remove()
    }
  }
}

/** A statement that is no longer SQL would prove nothing. */
function firstFailure(tap: string): string {
  if (/^ *code: '42\d\d\d'$/m.test(tap)) throw new Error(`a patch broke the SQL:\n${tap}`)
  return /^ *not ok \d+ - (.*)$/m.exec(tap)?.[1] ?? 'the file fails'
}
