// Runs a tool of the developers as they would, from the folder of the project.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Elsewhere, SmallRun } from './small-runs.ts'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** One test for each that is not run by another test. */
export function testScripts(scripts: Readonly<Record<string, SmallRun | Elsewhere>>): void {
  for (const [name, one] of Object.entries(scripts)) {
    if ('by' in one) continue
    test(`npm run ${name}`, { skip: one.skip ?? false }, (t) =>
      assertDoes(t, one, 'npm', ['run', '--silent', name, '--', ...one.args]),
    )
  }
}

export async function assertDoes(
  t: TestContext,
  { prints }: SmallRun,
  command: string,
  args: readonly string[],
): Promise<void> {
  const { NODE_TEST_CONTEXT: _, PAYBELL_TEST_SERVER_URL: __, ...env } = process.env
  const child = spawn(command, args, { cwd: ROOT, env, signal: t.signal })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text
    })
  }
  const [code] = await once(child, 'close')
  assert.equal(code, 0, `${args.join(' ')} ended with ${code}:\n${printed}`)
  assert.match(printed, prints)
}
