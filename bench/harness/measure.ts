// One slice of one cell: checkpoint, feed for so many seconds, wait until the last delivery is recorded.
// The clock runs from the first request to that last record; nothing lies outside.

import { setTimeout as delay } from 'node:timers/promises'
import { cpuSeconds, machineTimes } from './cpu.ts'
import type { Fed, Limits } from './generator.ts'
import { monotonicMs } from './monotonic.ts'
import type { Stage } from './stage.ts'
import { type Percentiles, percentiles } from './statistics.ts'
import { heardBelow, type RunningSystem } from './system.ts'

export type Feed = 'batch' | 'put'

export interface Slice {
  /** Payments answered 2xx. Where a filter leaves some out, there are fewer deliveries. */
  accepted: number
  deliveries: number
  seconds: number
  perSecond: number
  missing: number
  duplicates: number
  refused: number
  /** CPU-seconds per 1,000 deliveries. */
  cpu: { service: number; store: number; receiver: number; generator: number }
  walBytesEach: number
  walFsyncsEach: number
  transactionsEach: number
  /** From the request to the receiver, in a closed loop: shown, never compared. */
  latency: Percentiles
  stealShare: number
  firstRefusal: string
}

const UNDER_WAY_MAX = 4_000
const SETTLE_LIMIT_MS = 60_000

export function limitsOf(feed: Feed, seconds: number, underWayMax = UNDER_WAY_MAX): Limits {
  return feed === 'batch'
    ? {
        seconds,
        concurrent: 4,
        linesPerBatch: Math.min(500, Math.ceil(underWayMax / 4)),
        underWayMax,
      }
    : { seconds, concurrent: 256, underWayMax }
}

export interface SliceOptions {
  feed: Feed
  seconds: number
  warmUpSeconds: number
  seed: string
  underWayMax?: number | undefined
}

/** The first slice after a warm-up. */
export async function measureOne(
  stage: Stage,
  system: RunningSystem,
  options: SliceOptions,
): Promise<Slice> {
  await warmUp(stage, system, options)
  return measureSlice(stage, system, options)
}

export async function warmUp(
  stage: Stage,
  system: RunningSystem,
  options: SliceOptions,
): Promise<void> {
  await aimAt(stage, system, options.seed)
  await stage.feed(limitsOf(options.feed, options.warmUpSeconds, options.underWayMax))
  await untilSettled(stage, system)
  await delay(1_100) // PostgreSQL's own counters are late by up to a second.
}

export async function measureSlice(
  stage: Stage,
  system: RunningSystem,
  options: SliceOptions,
): Promise<Slice> {
  await system.database?.checkpoint()
  return measureFeed(stage, system, () =>
    stage.feed(limitsOf(options.feed, options.seconds, options.underWayMax)),
  )
}

export function aimAt(
  stage: Stage,
  system: RunningSystem,
  seed: string,
  documentBytes = 0,
): Promise<void> {
  const { baseUrl, operatorKey, accountIds, heardEvery, dialect } = system
  return stage.aim({ baseUrl, operatorKey, accountIds, seed, documentBytes, heardEvery, dialect })
}

export async function measureFeed(
  stage: Stage,
  system: RunningSystem,
  feed: () => ReturnType<Stage['feed']>,
): Promise<Slice> {
  const arrivedBefore = stage.unique
  const writesBefore = await system.database?.writeCounts()
  const duplicatesBefore = (await stage.arrivals(0)).duplicates
  const machineBefore = machineTimes()
  const before = usage(stage, system)
  const fed = await feed()
  const last = fed.firstNumber + fed.sentAtMs.length
  const owed = owedOf(fed, last, system.heardEvery)
  const endedAtMs = await untilSettled(stage, system, arrivedBefore + owed)
  const after = usage(stage, system)
  const machineAfter = machineTimes()
  await delay(1_100)
  const writesAfter = await system.database?.writeCounts()
  const { atMs, duplicates } = await stage.arrivals(last)
  const latencies: number[] = []
  let arrived = 0
  for (let number = fed.firstNumber; number < last; number++) {
    const at = atMs[number] as number
    if (at === 0) continue
    arrived++
    latencies.push(at - (fed.sentAtMs[number - fed.firstNumber] as number))
  }
  const seconds = (endedAtMs - fed.startedAtMs) / 1_000
  const each = (key: keyof NonNullable<typeof writesAfter>) =>
    writesAfter && writesBefore ? (writesAfter[key] - writesBefore[key]) / arrived : Number.NaN
  const per1000 = (key: keyof typeof after) => ((after[key] - before[key]) / arrived) * 1_000
  return {
    accepted: fed.accepted,
    deliveries: arrived,
    seconds,
    perSecond: arrived / seconds,
    missing: Math.max(0, owed - arrived),
    duplicates: duplicates - duplicatesBefore,
    refused: fed.refused,
    cpu: {
      service: per1000('service'),
      store: per1000('store'),
      receiver: per1000('receiver'),
      generator: per1000('generator'),
    },
    walBytesEach: each('walBytes'),
    walFsyncsEach: each('walFsyncs'),
    transactionsEach: each('transactions'),
    latency: percentiles(latencies),
    stealShare:
      (machineAfter.steal - machineBefore.steal) / (machineAfter.total - machineBefore.total),
    firstRefusal: fed.firstRefusal,
  }
}

/** Deliveries that have to arrive. */
function owedOf({ accepted, firstNumber }: Fed, last: number, heardEvery = 1): number {
  if (heardEvery === 1) return accepted
  return heardBelow(last, heardEvery) - heardBelow(firstNumber, heardEvery)
}

function usage(stage: Stage, system: RunningSystem) {
  return {
    ...system.cpuSeconds(),
    receiver: cpuSeconds(stage.receiver.pid),
    generator: cpuSeconds(stage.generator.pid),
  }
}

/** The moment when all is delivered and recorded, or when patience with what is missing ended. */
export async function untilSettled(
  stage: Stage,
  system: RunningSystem,
  wanted = 0,
  limitMs = SETTLE_LIMIT_MS,
): Promise<number> {
  let progressAtMs = monotonicMs()
  for (let seen = stage.unique; ; await delay(5)) {
    const askedAtMs = monotonicMs()
    // The database is asked only when the receiver has everything: the question costs something.
    if (stage.unique >= wanted && (await system.isSettled())) return askedAtMs
    if (stage.unique > seen) {
      seen = stage.unique
      progressAtMs = askedAtMs
    }
    if (askedAtMs - progressAtMs > limitMs) return askedAtMs
  }
}
