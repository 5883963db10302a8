// npm test. Test files run in groups, on one PostgreSQL with a migrated template: those that compute one after
// another, those that wait beside them, then those that must be alone. `node test/run.ts [group …]` runs some
// of them. A group that fails does not keep the others from running. A dot is a test that passed; failures
// are printed in full at the end.

import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildConsole } from './browser/built-console.ts'
import { shareChromium } from './browser/chromium.ts'
import { filesOf, GROUP_NAMES, GROUPS, type Group, type GroupName } from './groups.ts'
import { note, type Outcome, tell } from './outcomes.ts'
import { makeCluster } from './support/made-cluster.ts'
import type { TestNews } from './support/test-events.ts'
import { makeTemplate, startTestServer } from './support/test-server.ts'

const REPORTER = fileURLToPath(new URL('support/test-events.ts', import.meta.url))

const asked = process.argv.slice(2) as GroupName[]
for (const name of asked) {
  if (!GROUP_NAMES.includes(name)) {
    console.error(`There is no group ${name}. There are ${GROUP_NAMES.join(', ')}.`)
    process.exit(2)
  }
}
const names = asked.length > 0 ? asked : GROUP_NAMES.filter((name) => whenOf(name) !== 'slow')

/** Ctrl-C ends what runs and begins nothing more; what was started is still cleaned up. */
const ended = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.abort())

const startedAt = performance.now()
const cleanUps: (() => Promise<unknown>)[] = []
const outcomes: Outcome[] = []
try {
  await setUp()
  await Promise.all([runGroups('computing'), runGroups('waiting')])
  await runGroups('alone')
  await runGroups('slow')
} finally {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp()
}
tell(outcomes, (performance.now() - startedAt) / 1_000)
const isGood = outcomes.every(({ failures }) => failures.length === 0)
process.exitCode = isGood && !ended.signal.aborted ? 0 : 1

function whenOf(name: GroupName): Group['when'] {
  return GROUPS[name].when
}

/** What test files share: they must not start, build, compile or unpack it side by side. */
async function setUp(): Promise<void> {
  const compiled = await mkdtemp(join(tmpdir(), 'paybell-compiled-'))
  cleanUps.push(() => rm(compiled, { recursive: true, force: true }))
  process.env.NODE_COMPILE_CACHE = compiled
  await Promise.all([
    openServer(),
    names.includes('waiting') && openBrowser(),
    names.some((name) => name === 'waiting' || name === 'slow') && openCluster(),
  ])
}

/** A server that was handed in is its owner's to stop. */
async function openServer(): Promise<void> {
  const given = process.env.PAYBELL_TEST_SERVER_URL
  if (given) return makeTemplate(given)
  const server = await startTestServer()
  cleanUps.push(() => server.stop())
  process.env.PAYBELL_TEST_SERVER_URL = server.url
}

async function openBrowser(): Promise<void> {
  await buildConsole()
  const browser = await shareChromium()
  if (typeof browser !== 'string') cleanUps.push(() => browser.close())
}

async function openCluster(): Promise<void> {
  cleanUps.push(await makeCluster())
}

async function runGroups(when: Group['when']): Promise<void> {
  for (const name of names) {
    if (ended.signal.aborted) return
    if (whenOf(name) === when) outcomes.push(await runGroup(name))
  }
}

async function runGroup(name: GroupName): Promise<Outcome> {
  const outcome: Outcome = { name, passed: 0, skips: [], failures: [], seconds: 0 }
  const begunAt = performance.now()
  const files = filesOf(name)
  const args = ['--test', '--test-timeout=120000', `--test-reporter=${REPORTER}`]
  const child = spawn(process.execPath, [...args, ...GROUPS[name].args, ...files], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  ended.signal.addEventListener('abort', () => child.kill('SIGTERM'))
  /** What files printed, shown when something of the group failed. */
  const printed = new Map<string, string>()
  const print = (file: string, text: string) => printed.set(file, (printed.get(file) ?? '') + text)
  child.stdout?.setEncoding('utf8').on('data', (text: string) => print(name, text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => print(name, text))
  child.on('message', (news: TestNews) => {
    if (news.kind === 'printed') print(news.file, news.text)
    else note(outcome, news)
  })
  const code = await new Promise<number | string>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal ?? 1))
  })
  if (code !== 0 && outcome.failures.length === 0) {
    outcome.failures.push(`the runner of ${name} ended with ${code}`)
  }
  if (outcome.failures.length > 0) {
    for (const [file, text] of printed) outcome.failures.push(`${file} printed:\n${text}`)
  }
  outcome.seconds = (performance.now() - begunAt) / 1_000
  return outcome
}
