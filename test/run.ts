// npm test. Test files run in groups, by what they need of the machine, on one PostgreSQL with a migrated
// template: `node test/run.ts [group …]` runs some of them alone. A group that fails does not keep the
// next one from running; the exit code tells.

import { spawn } from 'node:child_process'
import { buildConsole } from './browser/built-console.ts'
import { shareChromium } from './browser/chromium.ts'
import { filesOf, GROUPS, type GroupName } from './groups.ts'
import { makeTemplate, startTestServer, type TestServer } from './support/test-server.ts'

const asked = process.argv.slice(2) as GroupName[]
for (const name of asked) {
  if (!(name in GROUPS)) {
    console.error(`There is no group ${name}. There are ${Object.keys(GROUPS).join(', ')}.`)
    process.exit(2)
  }
}

const names = asked.length > 0 ? asked : (Object.keys(GROUPS) as GroupName[])
const server = await openServer()
// Files that run side by side must not build and unpack the same things side by side.
if (names.includes('waiting')) await buildConsole()
const browser = names.includes('waiting') ? await shareChromium() : null
const lines: string[] = []
let isGood = true
try {
  for (const name of names) {
    const startedAt = performance.now()
    const code = await runGroup(name)
    const seconds = Math.round((performance.now() - startedAt) / 1_000)
    const { about } = GROUPS[name]
    lines.push(`${code === 0 ? 'passed' : 'FAILED'} ${name} in ${seconds} s: ${about}`)
    isGood &&= code === 0
  }
} finally {
  if (typeof browser === 'object') await browser?.close()
  await server?.stop()
}
console.log(`\n${lines.join('\n')}`)
process.exitCode = isGood ? 0 : 1

/** Null where a server was handed in, which is its owner's to stop. */
async function openServer(): Promise<TestServer | null> {
  const given = process.env.PAYBELL_TEST_SERVER_URL
  if (given) {
    await makeTemplate(given)
    return null
  }
  const started = await startTestServer()
  process.env.PAYBELL_TEST_SERVER_URL = started.url
  return started
}

function runGroup(name: GroupName): Promise<number> {
  const { args } = GROUPS[name]
  const child = spawn(
    process.execPath,
    ['--test', '--test-timeout=120000', ...args, ...filesOf(name)],
    { stdio: 'inherit' },
  )
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)))
}
