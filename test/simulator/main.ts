// npm run sim: many seeds, or one of them again. Prints what came up how often, and for a seed that
// breaks an invariant the command that repeats it and the part of its timeline that matters.

import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { readArguments, toCount, toSeconds, toWhole } from '../support/number-arguments.ts'
import { Counters } from './counters.ts'
import type { Violation } from './records.ts'
import { simulate, timelineOf, type Verdict } from './simulate.ts'
import { loadSubject } from './subject.ts'
import type { TimelineEntry } from './world.ts'

const values = readArguments(() => {
  const { values: given } = parseArgs({
    options: {
      seeds: { type: 'string', default: '10000' },
      seed: { type: 'string' },
      from: { type: 'string', default: '1' },
      seconds: { type: 'string' },
      verbose: { type: 'boolean', default: false },
      'keep-going': { type: 'boolean', default: false },
    },
  })
  const { seed, seconds } = given
  return {
    ...given,
    seeds: toCount('--seeds', given.seeds),
    seed: seed === undefined ? null : toWhole('--seed', seed),
    from: toWhole('--from', given.from),
    seconds: seconds === undefined ? null : toSeconds('--seconds', seconds),
  }
})

const subject = await loadSubject()

if (values.seed !== null) await repeat(values.seed)
else await explore()

async function repeat(seed: number): Promise<void> {
  const { verdict, timeline } = await timelineOf(seed, subject)
  const text = values.verbose ? timeline.map((entry) => line(entry)) : shorten(verdict, timeline)
  console.log(text.join('\n'))
  console.log(`seed ${verdict.seed}: ${verdict.steps} steps, trace ${verdict.hash}`)
  for (const violation of verdict.violations) console.log(toText(violation))
  // Not process.exit: what was printed has to be written first.
  process.exitCode = verdict.violations.length > 0 ? 1 : 0
}

async function explore(): Promise<void> {
  const counters = new Counters()
  const { from } = values
  const endsAt = values.seconds === null ? Infinity : values.seconds * 1_000
  const seeds = values.seconds === null ? values.seeds : Infinity
  const startedAt = performance.now()
  const broken: Verdict[] = []
  const kinds = new Map<string, number[]>()
  let count = 0
  let steps = 0
  const progress = () => {
    const seconds = (performance.now() - startedAt) / 1_000
    const rate = Math.round(count / seconds)
    const stepRate = Math.round(steps / seconds)
    console.log(`${count} seeds in ${seconds.toFixed(1)} s: ${rate} seeds/s, ${stepRate} steps/s`)
  }
  console.log(`simulating from seed ${from}`)
  for (; count < seeds && performance.now() - startedAt < endsAt; count++) {
    const verdict = await simulate(from + count, subject)
    counters.add(verdict.counters)
    counters.count(`world of ${verdict.plan.cadence}`)
    steps += verdict.steps
    if (verdict.violations.length > 0) {
      broken.push(verdict)
      const kind = toKind(verdict.violations[0] as Violation)
      kinds.set(kind, [...(kinds.get(kind) ?? []), verdict.seed])
      if (!values['keep-going']) break
    }
    if (count % 1_000 === 999) progress()
  }
  progress()
  console.log(counters.table())
  const [worst] = broken.toSorted((one, other) => one.steps - other.steps)
  if (worst) await explain(worst.seed)
  if (values['keep-going'] && broken.length > 0) {
    console.log(`\n${broken.length} seeds of ${count} break an invariant:`)
    for (const [kind, of] of kinds)
      console.log(`  ${of.length} × ${kind}: ${of.slice(0, 6).join(' ')}`)
  }
  const isDead = counters.missing.length > 0 && count >= 5_000
  if (isDead) console.log(`never came up: ${counters.missing.join(', ')}`)
  process.exitCode = broken.length > 0 || isDead ? 1 : 0
}

async function explain(seed: number): Promise<void> {
  const { verdict, timeline } = await timelineOf(seed, subject)
  console.log(`\nseed ${seed} breaks an invariant at commit ${commit()}:`)
  for (const violation of verdict.violations.slice(0, 5)) console.log(`  ${toText(violation)}`)
  console.log(`\nrepeat it: npm run sim -- --seed ${seed} --verbose\n`)
  console.log(shorten(verdict, timeline).slice(-60).join('\n'))
}

/** The requests of the strand that went wrong, faults, logs, ends of deliveries; the rest is noise. */
function shorten(verdict: Verdict, timeline: readonly TimelineEntry[]): string[] {
  const [violation] = verdict.violations
  const requests = verdict.record.requests
    .filter(
      ({ endpointId, paymentId }) =>
        (violation?.endpointId ?? endpointId) === endpointId &&
        (violation?.paymentId ?? paymentId) === paymentId,
    )
    .map((request) => ({
      atMs: request.startedAtMs,
      who: request.node ?? '?',
      what:
        `update ${request.sequence} of ${request.paymentId}, attempt ${request.attempt} ` +
        `at e${request.endpointId.at(-1)} → ${request.status ?? 'nothing'}` +
        `${request.wasAnswerHeard ? '' : ' (not heard)'}${request.isReplay ? ' (replay)' : ''}`,
    }))
  const acts = verdict.record.endpoints.flatMap(({ id, acts }) =>
    acts.map((act) => ({
      atMs: act.appliedAtMs,
      who: act.node ?? '',
      what: `${act.kind} e${id.at(-1)}, acknowledged ${since(act.acknowledgedAtMs)}`,
    })),
  )
  const kept = timeline.filter(
    ({ who, what }) => who !== 'event' || /fault|starts|asked for|a write/.test(what),
  )
  return [...kept, ...requests, ...acts]
    .toSorted((one, other) => one.atMs - other.atMs)
    .map((entry) => line(entry))
}

function line({ atMs, who, what }: TimelineEntry): string {
  return `${since(atMs).padStart(12)}  ${who.padEnd(8)} ${what}`
}

function since(atMs: number | null): string {
  return atMs === null ? 'never' : `${((atMs - 1_767_225_600_000) / 1_000).toFixed(3)} s`
}

function toText({ invariant, detail, endpointId, paymentId, atMs }: Violation): string {
  const where = [paymentId, endpointId && `e${endpointId.at(-1)}`].filter(Boolean).join(' at ')
  return `${invariant} ${detail} [${where}] ${since(atMs)}`
}

function toKind({ invariant, detail }: Violation): string {
  return `${invariant} ${detail.replaceAll(/\d+/g, '#')}`
}

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  } catch {
    return 'unknown'
  }
}
