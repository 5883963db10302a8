// `paybell demo` on a sandbox that it starts and stops itself.

import { test } from 'node:test'
import { runCommand } from '../support/command-line.ts'
import { assertDemo } from '../support/demo.ts'
import { makeDataDir } from '../support/sandbox.ts'

test('demo, on a sandbox of its own: two failures, then the signed success', async (t) => {
  const env = { TMPDIR: await makeDataDir(t) }
  assertDemo(await runCommand(t, ['demo', '--own', '--json'], { env }))
})
