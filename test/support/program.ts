// A program of the house (`npm run …`) as a test: run to its end, judged by its exit code.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024

/** Prints its last line; all of it when it fails. `file` is relative to the root of the repository. */
export async function assertPasses(
  t: TestContext,
  file: string,
  ...args: readonly string[]
): Promise<void> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const options = { cwd: ROOT, env, maxBuffer: OUTPUT_BYTES_MAX, signal: t.signal }
  const command = `node ${file} ${args.join(' ')}`
  const { stdout } = await run(process.execPath, [file, ...args], options).catch((error) =>
    assert.fail(`${command}: ${error.message}\n${error.stdout}${error.stderr}`),
  )
  t.diagnostic(`${command}: ${stdout.trimEnd().split('\n').at(-1)}`)
}
