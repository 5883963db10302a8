// `npm run chaos -- --hour`: what a release rests on. One run with five minutes of faults after the other, each on a database of
// its own with a seed of its own, so that a fault is found within minutes and no record outgrows the memory; then one page.

import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { availableParallelism, cpus, totalmem } from 'node:os'
import { BROKER_FEEDS, FEED_NAMES, type Feed } from './feeds.ts'
import { describe, spread } from './report.ts'
import { type ChaosResult, type Missing, runChaos } from './run.ts'
import { FULL } from './settings.ts'

const SECONDS = 300
const MINUTES_MIN = 60
const KILLS_MIN = 300
const DELIVERIES_MIN = 300_000
/** What is still short then proves nothing: the machine is too slow. */
const RUNS_MAX = 12

export interface HourOptions {
  seed: number
  page: string
  signal: AbortSignal
  onNote: (line: string) => void
}

/** True when it held, and was long enough to say so. */
export async function runHour({ seed, page, signal, onNote }: HourOptions): Promise<boolean> {
  const suite = { ...FULL, seconds: SECONDS }
  const results: Told[] = []
  while (results.length < RUNS_MAX && shortOf(results).length > 0) {
    const isKept = 'after violations'
    const result = await runChaos({ suite, seed: seed + results.length, isKept, signal })
    const told = tell(result)
    onNote(`run ${results.length + 1}, seed ${told.seed}: ${toRow(told)}`)
    if (told.violations > 0) onNote(`${describe(result)}\neverything is kept in ${result.dir}`)
    results.push(told)
    await writeFile(page, toPage(results, seed))
  }
  onNote(`${page} is written.`)
  return judgeHour(results).length === 0
}

/** What the page keeps of a run. */
export interface Told {
  seed: number
  tookMs: number
  /** Those by which something was acknowledged. */
  feeds: readonly Feed[]
  missing: ReadonlyMap<Missing, string>
  /** How often each kind of fault was met. */
  faults: ReadonlyMap<string, number>
  deliveries: number
  lost: number
  inverted: number
  doubled: number
  leftOnWaking: number
  violations: number
  takenMs: readonly number[]
  sentMs: readonly number[]
  repeatWith: string
}

/** The invariants of the checker that are broken where something is lost, or follows what is newer. */
const LOST = ['I1', 'I2', 'I3', 'I10']
const INVERTED = ['I6']

function tell({ seed, tookMs, verdict, faults, feeds, missing, repeatWith }: ChaosResult): Told {
  const count = (of: readonly string[]) =>
    verdict.violations.filter(({ invariant }) => of.includes(invariant)).length
  return {
    seed,
    tookMs,
    feeds: [...feeds.keys()],
    missing,
    faults,
    deliveries: verdict.figures.deliveries ?? 0,
    lost: count(LOST),
    inverted: count(INVERTED),
    doubled: verdict.figures['duplicates after a 200'] ?? 0,
    leftOnWaking: verdict.figures['left a frozen process on waking'] ?? 0,
    violations: verdict.violations.length,
    takenMs: verdict.rescue.takenMs,
    sentMs: verdict.rescue.sentMs,
    repeatWith,
  }
}

/** Why this hour proves nothing; empty when it does. */
export function judgeHour(results: readonly Told[]): string[] {
  const hasHeld = results.every(({ violations }) => violations === 0)
  return hasHeld ? shortOf(results) : ['there were violations', ...shortOf(results)]
}

/** What has still to happen. */
function shortOf(results: readonly Told[]): string[] {
  const total = (of: (told: Told) => number) => sum(results.map(of))
  const short: string[] = []
  if (minutesOf(results) < MINUTES_MIN) short.push(`fewer than ${MINUTES_MIN} minutes`)
  if (total(killsOf) < KILLS_MIN) short.push(`fewer than ${KILLS_MIN} kills`)
  if (total(({ deliveries }) => deliveries) < DELIVERIES_MIN) {
    short.push(`fewer than ${DELIVERIES_MIN} deliveries`)
  }
  return short
}

function killsOf({ faults }: Told): number {
  return sum([...faults].filter(([what]) => what.includes('killed')).map(([, times]) => times))
}

function faultsOf({ faults }: Told): number {
  return sum([...faults.values()])
}

function minutesOf(results: readonly Told[]): number {
  return Math.floor(sum(results.map(({ tookMs }) => tookMs)) / 60_000)
}

export function toPage(results: readonly Told[], seed: number): string {
  const total = (of: (told: Told) => number) => sum(results.map(of))
  const why = judgeHour(results)
  const absent = absentOf(results)
  const without =
    absent.length === 0 ? '' : `, without ${absent.map(({ name }) => name).join(', ')}`
  const [cpu] = cpus()
  return [
    '# What an hour of faults has shown',
    '',
    `Commit ${commit()}, \`npm run chaos -- --hour --seed ${seed}\`, ${availableParallelism()} × ${cpu?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.version}.`,
    '',
    why.length === 0 ? `**It held${without}.**` : `**It proves nothing: ${why.join(', ')}.**`,
    '',
    [`Feeds: ${feedsOf(results).join(', ')}.`, ...absent.map(({ why }) => why)].join(' '),
    '',
    '| | |',
    '|---|---|',
    `| minutes, those under faults among them | ${minutesOf(results)}, ${(results.length * SECONDS) / 60} |`,
    `| deliveries | ${total(({ deliveries }) => deliveries)} |`,
    `| processes, databases and brokers killed | ${total(killsOf)} |`,
    `| faults in all | ${total(faultsOf)} |`,
    `| lost | ${total(({ lost }) => lost)} |`,
    `| in the wrong order | ${total(({ inverted }) => inverted)} |`,
    `| sent again after a 200, which a fault may bring about | ${total(({ doubled }) => doubled)} |`,
    `| left a process when it woke up, which was frozen in the microseconds before it sent: in whatever order | ${total(({ leftOnWaking }) => leftOnWaking)} |`,
    `| violations of any invariant | ${total(({ violations }) => violations)} |`,
    `| after a kill of its owner, until a shard had one again, while other faults went on | ${spread(results.flatMap(({ takenMs }) => takenMs))} |`,
    `| after a kill without another fault at the time, until its next callback | ${spread(results.flatMap(({ sentMs }) => sentMs))} |`,
    '',
    'Times are those of the compressed schedule of `test/chaos/settings.ts`, with leases of 1.5 s in place of 25.',
    '',
    '| seed | kills | faults | deliveries | lost | order | again | violations |',
    '|---|---|---|---|---|---|---|---|',
    ...results.map((told) => `| ${told.seed} | ${toRow(told)} |`),
    '',
    '| fault | times |',
    '|---|---|',
    ...toKinds(results),
    '',
    `One of them again: \`npm run chaos -- ${results[0]?.repeatWith ?? ''}\` with its seed.`,
    '',
  ].join('\n')
}

const NAMES: Record<Feed | Missing, string> = {
  ...FEED_NAMES,
  clock: "jumps of the database's clock",
}

function isFedBy(results: readonly Told[], feed: Feed): boolean {
  return results.every(({ feeds }) => feeds.includes(feed))
}

/** Those that every run had. */
function feedsOf(results: readonly Told[]): string[] {
  const all = Object.keys(FEED_NAMES) as Feed[]
  return [...new Set(all.filter((feed) => isFedBy(results, feed)).map((feed) => NAMES[feed]))]
}

/** What not every run had, and why. */
function absentOf(results: readonly Told[]): { name: string; why: string }[] {
  const reasonOf = (what: Missing) =>
    results.find(({ missing }) => missing.has(what))?.missing.get(what)
  const absent: Missing[] = BROKER_FEEDS.filter((feed) => !isFedBy(results, feed))
  if (reasonOf('clock') !== undefined) absent.push('clock')
  return absent.map((what) => {
    const why = reasonOf(what) ?? 'a run has published nothing to it'
    return { name: NAMES[what], why: `Without ${NAMES[what]}, because ${why}.` }
  })
}

/** The most frequent first. */
function toKinds(results: readonly Told[]): string[] {
  const times = new Map<string, number>()
  for (const [what, count] of results.flatMap(({ faults }) => [...faults])) {
    times.set(what, (times.get(what) ?? 0) + count)
  }
  const kinds = [...times].sort(([, one], [, other]) => other - one)
  return kinds.map(([what, count]) => `| ${what} | ${count} |`)
}

function toRow(told: Told): string {
  const { deliveries, lost, inverted, doubled, violations } = told
  const figures = [killsOf(told), faultsOf(told), deliveries, lost, inverted, doubled, violations]
  return figures.join(' | ')
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((so, number) => so + number, 0)
}

/** Unknown in a folder without history. */
function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  } catch {
    return 'unknown'
  }
}
