// npm test, and npm run test:slow. Test files run in groups, by what they need of the machine, on one
// PostgreSQL with a migrated template: `node test/run.ts [group …]` runs some of them alone. A group
// that fails does not keep the next one from running; the exit code tells.

import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { buildConsole } from './browser/built-console.ts'
import { shareChromium } from './browser/chromium.ts'
import { makeTemplate, startTestServer, type TestServer } from './support/test-server.ts'

interface Group {
  /** What its files have in common, for the reader of the output. */
  about: string
  patterns: readonly string[]
  args: readonly string[]
}

/** These measure how long something takes, so nothing runs beside them. */
const TIMED = [
  'test/e2e/killed.test.ts',
  'test/e2e/start-stop.test.ts',
  'test/e2e/two-processes.test.ts',
  'test/chaos/chaos.test.ts',
]

const GROUPS = {
  pure: {
    about: 'rules and the engine, in one process',
    patterns: [
      'server/{core,delivery,cli}/**/*.test.ts',
      'server/*.test.ts',
      'sdk/src/**/*.test.ts',
      'test/{house,simulator}/**/*.test.ts',
    ],
    args: ['--test-isolation=none'],
  },
  database: {
    about: 'SQL and HTTP, two files at a time',
    patterns: [
      'server/{store,operations,http,embedded,sources}/**/*.test.ts',
      'test/{conformance,console,deploy}/**/*.test.ts',
    ],
    args: ['--test-concurrency=2'],
  },
  waiting: {
    about: 'the whole service, which mostly waits, four files at a time',
    patterns: ['test/{e2e,docs,browser}/**/*.test.ts'],
    args: ['--test-concurrency=4'],
  },
  timed: {
    about: 'what measures time, one file at a time',
    patterns: TIMED,
    args: ['--test-concurrency=1'],
  },
  slow: {
    about: 'what is long by nature, one file at a time',
    patterns: ['test/slow/**/*.test.ts'],
    args: ['--test-concurrency=1', '--test-timeout=1200000'],
  },
} as const satisfies Record<string, Group>

type GroupName = keyof typeof GROUPS

const DEFAULT: readonly GroupName[] = ['pure', 'database', 'waiting', 'timed']
const asked = process.argv.slice(2) as GroupName[]
for (const name of asked) {
  if (!(name in GROUPS)) {
    console.error(`There is no group ${name}. There are ${Object.keys(GROUPS).join(', ')}.`)
    process.exit(2)
  }
}

const names = asked.length > 0 ? asked : DEFAULT
const server = await openServer()
// Four files at a time must not build and unpack the same things side by side.
if (names.includes('waiting')) await buildConsole()
const browser = names.includes('waiting') ? await shareChromium() : null
const lines: string[] = []
let isGood = true
try {
  for (const name of names) {
    const startedAt = performance.now()
    const code = await runGroup(GROUPS[name])
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

function runGroup({ patterns, args }: Group): Promise<number> {
  const files = globSync([...patterns]).filter(
    (file) => patterns === GROUPS.timed.patterns || !TIMED.includes(file),
  )
  const child = spawn(
    process.execPath,
    ['--test', '--test-timeout=120000', ...args, ...files.toSorted()],
    { stdio: 'inherit' },
  )
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)))
}
