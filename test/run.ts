// npm test. Test files run in a few processes, on one PostgreSQL with a migrated template: those that compute
// and those that wait side by side. `node test/run.ts [tier or group …]` runs others, or some. A file that fails does not
// keep the others from running, and fails the run: none is tried again. A dot is a test that passed; failures are printed in
// full at the end.

import { buildConsole } from './browser/built-console.ts'
import { shareChromium } from './browser/chromium.ts'
import {
  drawnFiles,
  filesOf,
  GROUP_NAMES,
  GROUPS,
  type Group,
  type GroupName,
  longestFirst,
  ROOT,
} from './groups.ts'
import { emptyOutcome, type FileOutcome, noteResult, tell } from './outcomes.ts'
import { keepCompiled } from './support/compile-cache.ts'
import { cpuSeconds } from './support/cpu-time.ts'
import { makeCluster } from './support/made-cluster.ts'
import { sampleName, sampleVariable } from './support/sample.ts'
import { makeScratch } from './support/scratch.ts'
import { makeTemplate, startTestServer } from './support/test-server.ts'
import { WorkerProcess } from './worker-process.ts'

/** How long no test may end before its process is ended. */
const TEST_MS_MAX = 300_000
/** Of the later tiers, where a whole program is one test. */
const LATER_TEST_MS_MAX = 3_600_000

/** Files that wait leave the processors to those that compute. On two cores more of them take no less time: the run is
 *  bound by what it computes, and connections that wait in a long queue time out. */
const WORKERS = { computing: 1, waiting: 2 }

/** Modules stay to the end of their process, each with the service that its tests have started: 300 files hold 1.5 GB, and
 *  every full collection of garbage goes through all of it. To begin again takes half a second. Files of the later tiers change what a
 *  process is, such as how large its tests are: each has one of its own. */
const WORKER_BYTES_MAX = 700e6

process.chdir(ROOT)
const names = chooseGroups(process.argv.slice(2))

/** Ctrl-C ends what runs and begins nothing more; what was started is still cleaned up. */
const ended = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => ended.abort())
}

const startedAt = performance.now()
const cleanUps: (() => Promise<unknown>)[] = []
const outcomes: FileOutcome[] = []
try {
  await setUp()
  await runSideBySide()
  for (const next of queueOf('alone')) await runByItself(next)
} finally {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp()
}
tell(outcomes, { seconds: (performance.now() - startedAt) / 1_000, cpuSeconds: cpuSeconds() })
const isGood = outcomes.length > 0 && outcomes.every(({ failures }) => failures.length === 0)
process.exitCode = isGood && !ended.signal.aborted ? 0 : 1

/** Of tiers and groups; without any, the tier of `npm test`. */
function chooseGroups(given: readonly string[]): readonly GroupName[] {
  const wanted = given.length > 0 ? given : ['test']
  const isWanted = (name: GroupName) => wanted.includes(name) || wanted.includes(tierOf(name))
  const known = new Set<string>(GROUP_NAMES.flatMap((name) => [name, tierOf(name)]))
  for (const name of wanted.filter((one) => !known.has(one))) {
    console.error(`There is no group ${name}. There are ${[...known].join(', ')}.`)
    process.exit(2)
  }
  return GROUP_NAMES.filter(isWanted)
}

function tierOf(name: GroupName): Group['tier'] {
  return GROUPS[name].tier
}

/** What test files share: they must not start, build, compile or unpack it side by side. */
async function setUp(): Promise<void> {
  await keepCompiled()
  cleanUps.push(await makeScratch())
  await Promise.all([
    openServer(),
    ...(names.some((name) => name === 'waiting' || tierOf(name) !== 'test')
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

function queueOf(when: Group['when']): NamedFile[] {
  const own = names.filter((name) => GROUPS[name].when === when)
  const files = own.flatMap((name) => filesOf(name).map((file) => ({ name, file })))
  if (!own.includes('slow')) return files
  const drawn = drawOfRelease().map((file) => ({ name: 'slow' as const, file }))
  return longestFirst([...drawn, ...files])
}

function drawOfRelease(): readonly string[] {
  const sample = sampleName()
  const files = drawnFiles(sample)
  const again = `${sampleVariable(sample)} npm run test:slow`
  console.log(`of the release, drawn by the commit (again: ${again}):\n  ${files.join('\n  ')}`)
  return files
}

/** Workers that run out of files of their own kind help the others. */
async function runSideBySide(): Promise<void> {
  const computing = queueOf('computing')
  const waiting = queueOf('waiting')
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
    const isLater = [last?.name, next.name].some((name) => name && tierOf(name) !== 'test')
    if (worker && last && (worker.bytes > WORKER_BYTES_MAX || isLater)) {
      ends.push(endWorker(worker, last))
      worker = undefined
    }
    if (!worker || worker.hasEnded) worker = startWorker()
    last = await runFile(worker, next)
  }
  if (worker && last) ends.push(endWorker(worker, last))
  await Promise.all(ends)
}

async function runByItself(next: NamedFile): Promise<void> {
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
  const testMsMax = tierOf(name) === 'test' ? TEST_MS_MAX : LATER_TEST_MS_MAX
  const outcome = emptyOutcome(name, file)
  outcomes.push(outcome)
  const begunAt = performance.now()
  const cpuBefore = worker.cpuSeconds
  const printed = await worker.run(file, testMsMax, (result) => noteResult(outcome, result))
  outcome.seconds = (performance.now() - begunAt) / 1_000
  outcome.cpuSeconds = worker.cpuSeconds - cpuBefore
  if (isWithoutTests(outcome)) {
    noteResult(outcome, { kind: 'failed', name: file, where: '', error: 'no test of it was run' })
  }
  if (outcome.failures.length > 0 && printed) outcome.failures.push(`${file} printed:\n${printed}`)
  return outcome
}

function isWithoutTests({ passed, skips, failures }: FileOutcome): boolean {
  return passed + skips.length + failures.length === 0 && !ended.signal.aborted
}

/** What fails outside of any file is counted with the last one that the process ran. */
async function endWorker(worker: WorkerProcess, last: FileOutcome): Promise<void> {
  await worker.end((result) => noteResult(last, result))
}
