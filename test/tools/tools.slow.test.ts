// The tools of the developers work: each is run small, once.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { PROGRAMS, type SmallRun, scripts } from './small-runs.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'paybell-tools-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const SCRIPTS = scripts(folder)

test('every script of package.json is run by a test', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  assert.deepEqual(Object.keys(SCRIPTS).toSorted(), Object.keys(scripts).toSorted())
  for (const one of Object.values(SCRIPTS)) {
    if ('by' in one) assert.ok(existsSync(join(ROOT, one.by)), one.by)
  }
})

test('every program that the documents for developers name is run by a test', () => {
  const texts = ['CONTRIBUTING.md', 'bench/README.md'].map((file) =>
    readFileSync(join(ROOT, file), 'utf8'),
  )
  const named = texts.flatMap((text) => [...text.matchAll(/\bnode (bench\/[\w/-]+\.ts)/g)])
  const files = new Set(named.map(([, file]) => file as string))
  assert.ok(files.size > 5)
  assert.deepEqual(Object.keys(PROGRAMS).toSorted(), [...files].toSorted())
})

for (const [name, one] of Object.entries(SCRIPTS)) {
  if ('by' in one) continue
  test(`npm run ${name}`, { skip: one.skip ?? false }, (t) =>
    assertDoes(t, one, 'npm', ['run', '--silent', name, '--', ...one.args]),
  )
}

for (const [file, one] of Object.entries(PROGRAMS)) {
  test(`node ${file}`, (t) => assertDoes(t, one, process.execPath, [file, ...one.args]))
}

async function assertDoes(
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
