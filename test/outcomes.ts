// What became of each file and group, as the terminal shows it: a dot for each test while they run, then a line
// for each group, the slowest files and the name of each test that failed, and what failed in full at the end,
// so that it needs no scrolling.

import { GROUPS, type GroupName } from './groups.ts'
import type { TestResult } from './worker-process.ts'

export interface Outcome {
  name: GroupName
  passed: number
  skips: string[]
  /** Each as it will be printed. */
  failures: string[]
  /** Of all its files, which ran side by side. */
  seconds: number
  /** Of the process that ran them, and of what it started and saw end; not of the shared database. */
  cpuSeconds: number
}

export interface FileOutcome extends Outcome {
  file: string
}

export function emptyOutcome(name: GroupName, file: string): FileOutcome {
  return { name, file, passed: 0, skips: [], failures: [], seconds: 0, cpuSeconds: 0 }
}

const DOTS_PER_LINE = 100
const SLOWEST_SHOWN = 10
let dots = 0

export function noteResult(outcome: Outcome, news: TestResult): void {
  if (news.kind === 'passed') outcome.passed++
  else if (news.kind === 'skipped') outcome.skips.push(`${news.name}: ${news.reason}`)
  else outcome.failures.push(`✖ ${news.name}\n  ${news.where}\n${indent(news.error)}`)
  process.stdout.write(news.kind === 'passed' ? '.' : news.kind === 'skipped' ? 's' : 'X')
  if (++dots % DOTS_PER_LINE === 0) process.stdout.write('\n')
}

function addUp(files: readonly FileOutcome[]): Outcome[] {
  const groups = new Map<GroupName, Outcome>()
  for (const { name, passed, skips, failures, seconds, cpuSeconds } of files) {
    const group = groups.get(name) ?? emptyOutcome(name, '')
    group.passed += passed
    group.skips.push(...skips)
    group.failures.push(...failures)
    group.seconds += seconds
    group.cpuSeconds += cpuSeconds
    groups.set(name, group)
  }
  return [...groups.values()]
}

/** What the run took, with all processes that it started. */
export interface Took {
  seconds: number
  cpuSeconds: number
}

export function tell(files: readonly FileOutcome[], { seconds, cpuSeconds }: Took): void {
  const outcomes = addUp(files)
  console.log('\n')
  for (const outcome of outcomes) console.log(lineOf(outcome))
  tellSlowest(files)
  const failures = outcomes.flatMap((outcome) => outcome.failures)
  for (const failure of failures) console.log(`failed ${headOf(failure)}`)
  const skips = outcomes.flatMap((outcome) => outcome.skips)
  for (const skip of skips) console.log(`skipped ${skip}`)
  for (const failure of failures) console.log(`\n${failure}`)
  const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed, 0)
  const failed = outcomes.filter(({ failures }) => failures.length > 0).map(({ name }) => name)
  const verdict = failed.length === 0 ? 'none failed' : `FAILED: ${failed.join(', ')}`
  const took = `${Math.round(seconds)} s, ${Math.round(cpuSeconds)} CPU-s`
  const skipped = skips.length === 0 ? '' : `, ${skips.length} skipped`
  console.log(`\n${passed} tests passed${skipped} in ${took}; ${verdict}`)
}

/** The database that they share is in no file's processor time. */
function tellSlowest(files: readonly FileOutcome[]): void {
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST_SHOWN)
  console.log('slowest files:')
  for (const { file, seconds, cpuSeconds } of slowest) {
    const times = [seconds, cpuSeconds].map((each) => `${Math.round(each)}`.padStart(4))
    console.log(`${times[0]} s ${times[1]} CPU-s  ${file}`)
  }
}

/** Its test, and where it stands. */
function headOf(failure: string): string {
  const [name = '', where = ''] = failure.split('\n')
  return `${name} ${where.trim()}`
}

function lineOf({ name, passed, failures, seconds }: Outcome): string {
  const verdict = failures.length === 0 ? 'passed' : 'FAILED'
  const count = `${passed}`.padStart(5)
  const time = `${Math.round(seconds)}`.padStart(4)
  return `${verdict} ${name.padEnd(9)} ${count} tests ${time} s  ${GROUPS[name].about}`
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '    ')
}
