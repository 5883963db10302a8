// npm test. Test files run in a few processes, on one PostgreSQL with a migrated template: those that compute
// and those that wait side by side. `node test/run.ts [group …]` runs some of them. A file that fails does not keep the
// others from running, and fails the run: none is tried again. A dot is a test that passed; failures are printed in full at
// the end.

import { buildConsole } from './browser/built-console.ts'
import { shareChromium } from './browser/chromium.ts'
import { filesOf, GROUP_NAMES, GROUPS, type Group, type GroupName } from './groups.ts'
import { emptyOutcome, type FileOutcome, noteResult, tell } from './outcomes.ts'
import { keepCompiled } from './support/compile-cache.ts'
import { makeCluster } from './support/made-cluster.ts'
import { makeScratch } from './support/scratch.ts'
import { makeTemplate, startTestServer } from './support/test-server.ts'
import { WorkerProcess } from './worker-process.ts'

/** How long no test may end before its process is ended. */
const TEST_MS_MAX = 300_000
const SLOW_TEST_MS_MAX = 3_600_000

/** Files that wait leave the processors to those that compute. On two cores more of them take no less time: the run is
 *  bound by what it computes, and connections that wait in a long queue time out. */
const WORKERS = { computing: 1, waiting: 2 }

/** Modules stay to the end of their process, each with the service that its tests have started: 300 files hold 1.5 GB, and
 *  every full collection of garbage goes through all of it. To begin again takes half a second. */
const WORKER_BYTES_MAX = 700e6

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
const outcomes: FileOutcome[] = []
try {
  await setUp()
  await runSideBySide()
  for (const next of filesWhen('slow')) await runAlone(next)
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
  await keepCompiled()
  cleanUps.push(await makeScratch())
  await Promise.all([
    openServer(),
    ...(names.some((name) => name === 'waiting' || name === 'slow')
      ? [openBrowser(), openCluster()]
      : []),
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

interface NamedFile {
  name: GroupName
  file: string
}

function filesWhen(when: Group['when']): NamedFile[] {
  return names
    .filter((name) => whenOf(name) === when)
    .flatMap((name) => filesOf(name).map((file) => ({ name, file })))
}

/** Workers that run out of files of their own kind help the others. */
async function runSideBySide(): Promise<void> {
  const computing = filesWhen('computing')
  const waiting = filesWhen('waiting')
  const workers: Promise<void>[] = []
  for (let i = 0; i < WORKERS.computing; i++) {
    workers.push(work(() => computing.shift() ?? waiting.shift()))
  }
  for (let i = 0; i < WORKERS.waiting; i++) {
    workers.push(work(() => waiting.shift() ?? computing.shift()))
  }
  await Promise.all(workers)
}

async function work(take: () => NamedFile | undefined): Promise<void> {
  let worker: WorkerProcess | undefined
  let last: FileOutcome | undefined
  const ends: Promise<void>[] = []
  for (let next = take(); next && !ended.signal.aborted; next = take()) {
    if (worker && last && worker.bytes > WORKER_BYTES_MAX) {
      ends.push(endWorker(worker, last))
      worker = undefined
    }
    if (!worker || worker.hasEnded) worker = startWorker()
    last = await runFile(worker, next)
  }
  if (worker && last) ends.push(endWorker(worker, last))
  await Promise.all(ends)
}

async function runAlone(next: NamedFile): Promise<void> {
  if (ended.signal.aborted) return
  const worker = startWorker()
  await endWorker(worker, await runFile(worker, next))
}

function startWorker(): WorkerProcess {
  const worker = new WorkerProcess()
  ended.signal.addEventListener('abort', () => worker.kill(), { once: true })
  return worker
}

async function runFile(worker: WorkerProcess, { name, file }: NamedFile): Promise<FileOutcome> {
  const testMsMax = whenOf(name) === 'slow' ? SLOW_TEST_MS_MAX : TEST_MS_MAX
  const outcome = emptyOutcome(name, file)
  outcomes.push(outcome)
  const begunAt = performance.now()
  const printed = await worker.run(file, testMsMax, (result) => noteResult(outcome, result))
  outcome.seconds = (performance.now() - begunAt) / 1_000
  if (outcome.failures.length > 0 && printed) outcome.failures.push(`${file} printed:\n${printed}`)
  return outcome
}

/** What fails outside of any file is counted with the last one that the process ran. */
async function endWorker(worker: WorkerProcess, last: FileOutcome): Promise<void> {
  await worker.end((result) => noteResult(last, result))
}
