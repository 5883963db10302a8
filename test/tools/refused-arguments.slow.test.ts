// A program that runs as long as it is told to: a number that is none ends it at once, with what to give.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { ROOT } from './run-tool.ts'

for (const [program, ...args] of [
  ['test/simulator/main.ts', '--seeds', 'x'],
  ['test/simulator/main.ts', '--seed', 'x'],
  ['test/simulator/main.ts', '--from', '1.5'],
  ['test/simulator/main.ts', '--seconds', '-'],
  ['test/simulator/mutants.ts', '--draw', 'x'],
  ['test/fuzz/main.ts', 'x'],
  ['test/fuzz/main.ts', '5', 'x'],
  ['test/chaos/main.ts', '--seconds', 'x'],
  ['test/chaos/main.ts', '--hour', '--seed', 'x'],
] as const) {
  test(`regression: ${program} ${args.join(' ')} is refused`, async (t) => {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const options = { cwd: ROOT, env, signal: t.signal, timeout: 60_000 }
    const ended = await new Promise<{ code: unknown; said: string }>((resolve) => {
      execFile(process.execPath, [program, ...args], options, (error, _, said) =>
        resolve({ code: error?.code, said }),
      )
    })
    assert.equal(ended.code, 2, ended.said)
    assert.match(ended.said, /^[\w -]+ takes a (whole )?number (from|above) \d( on)?, not “.*”\n$/)
  })
}
