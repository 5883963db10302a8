// What a seed stands for: the size of its world, the moods of its receivers, what callers do, which
// faults strike when. Most worlds live for a minute or two with the service's own durations; some live for
// weeks, with polling and leases as many times slower as the world is longer.

import type { DeliverMode, EventChoice } from '../../server/core/delivery/endpoint-settings.ts'
import type { EngineOptions } from '../../server/delivery/engine.ts'
import { Dice } from './dice.ts'
import { DAY, HOUR, MINUTE, SECOND } from './durations.ts'
import { FAIR_WEATHER, type StoreWeather } from './node-store.ts'
import { type AcceptingPlan, drawAccepting, type WritePlan } from './plan-accepting.ts'
import { drawOptions, toLimits, WEEK_SLOWER } from './plan-options.ts'
import { MOODS, type Mood, type Spell } from './receivers.ts'
import type { Limits } from './records.ts'
import type { Subject } from './subject.ts'

export interface EndpointPlan {
  account: number | null
  events: readonly EventChoice[] | null
  shard: number
  keyName: string
  registeredAfterMs: number
  spells: readonly Spell[]
  finalMood: Mood
  deliver: DeliverMode
}

export interface ActPlan {
  afterMs: number
  kind:
    | 'rotate'
    | 'pause'
    | 'resume'
    | 'delete'
    | 'replay'
    | 'recover'
    | 'retry'
    | 'retry-endpoint'
    | 'cancel'
    | 'deliver'
  endpoint: number
}

export interface FaultPlan {
  afterMs: number
  kind: (typeof FAULTS)[number] | 'cut'
  node: number
  lengthMs: number
  /** A stall that begins when the process is about to send: it has looked at its lease, and no byte is out. */
  isAtSend: boolean
  /** Besides, the database ends its session. */
  isCut: boolean
}

export interface Plan extends AcceptingPlan {
  seed: number
  cadence: 'seconds' | 'week'
  nodes: readonly { wallOffsetMs: number; startAfterMs: number }[]
  shards: readonly number[]
  accounts: number
  endpoints: readonly EndpointPlan[]
  acts: readonly ActPlan[]
  faults: readonly FaultPlan[]
  weather: StoreWeather
  /** The share of notifications between processes that never arrive. */
  wakeUpsLost: number
  /** How long faults go on, and how long it may take until all is drained. */
  phaseMs: number
  drainMs: number
  /** Paused endpoints are resumed when the faults end. */
  resumesAll: boolean
  options: Omit<EngineOptions, 'onDatabaseTime'>
  limits: Limits
}

export function drawPlan(seed: number, subject: Subject): Plan {
  const plan = filter(drawWorld(seed, subject), new Dice(seed, 6))
  const dice = new Dice(seed, 4)
  return plan.cadence === 'seconds' && dice.chance(0.05) ? starve(plan, dice) : plan
}

const FILTERS: readonly (readonly EventChoice[])[] = [
  ['payment.pending_approval'],
  ['payment.updated'],
  ['payment.created', 'payment.updated'],
  ['payment.created', 'payment.pending_approval'],
  ['payment.*'],
]

/** With dice of their own, so that a seed keeps the rest of its world. */
function filter(plan: Plan, dice: Dice): Plan {
  if (!dice.chance(0.3)) return plan
  const endpoints = plan.endpoints.map((endpoint) =>
    dice.chance(0.7) ? { ...endpoint, events: dice.pick(FILTERS) } : endpoint,
  )
  return { ...plan, endpoints, hasKinds: true }
}

/**
 * An owner whose renewals fail or are answered late, for longer than its lease, while slow receivers keep
 * its attempts in flight: it must stop sending in time, or another process sends beside it.
 */
function starve(plan: Plan, dice: Dice): Plan {
  const phaseMs = 70 * SECOND
  const spells = [{ fromMs: 0, mood: 'sluggish' as const }]
  const slow = { spells, shard: 0, registeredAfterMs: 0 }
  const starve = { kind: 'starve' as const, node: 0, isAtSend: false, isCut: false }
  const faults = [{ ...starve, afterMs: 4 * SECOND, lengthMs: 60 * SECOND }]
  const weather = FAIR_WEATHER
  const payments = Array.from({ length: 30 }, (_, payment) => payment)
  return {
    ...plan,
    phaseMs,
    weather,
    faults,
    wakeUpsLost: 0,
    shards: [0],
    nodes: [0, 1].map((number) => ({ wallOffsetMs: 0, startAfterMs: number * 2 * SECOND })),
    endpoints: plan.endpoints.map((endpoint) => ({ ...endpoint, ...slow })),
    writes: payments.map((payment) => {
      const afterMs = 4 * SECOND + dice.between(0, phaseMs - 10 * SECOND)
      return { afterMs, payment, version: 1, content: 1, copies: 1 }
    }),
    acts: [],
    limits: toLimits(plan.options, { weather, wakeUpsLost: 0, faults }, 1),
  }
}

function drawWorld(seed: number, subject: Subject): Plan {
  const dice = new Dice(seed)
  const isWeek = dice.chance(0.05)
  const phaseMs = isWeek ? dice.between(1, 9) * DAY : dice.between(8, 60) * SECOND
  const hasFaults = dice.chance(0.8)
  const draws = (share: number) => hasFaults && dice.chance(share)
  const nodes = isWeek ? dice.pick([1, 1, 2]) : dice.pick([1, 1, 1, 2, 2, 2, 3, 4])
  const shardCount = dice.pick(isWeek ? [1, 2] : [1, 2, 4, 4, 64])
  const shards = Array.from({ length: shardCount }, (_, shard) => shard)
  const accounts = dice.whole(1, 2)
  // With dice of their own, so that a seed keeps the rest of its world.
  const delivers = new Dice(seed, 6)
  const endpoints = drawEndpoints(dice, { isWeek, phaseMs, shardCount, accounts }, delivers)
  const weather: StoreWeather = {
    delayMsMax: draws(0.3) ? dice.pick([100, 1_000, 10_000]) : FAIR_WEATHER.delayMsMax,
    unapplied: draws(0.3) ? 0.05 : 0,
    answerLost: draws(0.4) ? dice.pick([0.05, 0.3]) : 0,
    hang: draws(0.15) ? 0.03 : 0,
  }
  const options = drawOptions(dice, new Dice(seed, 9), subject, isWeek)
  const struck = hasFaults ? drawFaults(dice, nodes, phaseMs, isWeek) : []
  const faults = hasFaults ? drawCuts(new Dice(seed, 10), struck, nodes, phaseMs) : []
  const wakeUpsLost = draws(0.3) ? dice.pick([0.3, 1]) : 0
  return {
    seed,
    cadence: isWeek ? 'week' : 'seconds',
    nodes: Array.from({ length: nodes }, () => ({
      wallOffsetMs: draws(0.3) ? dice.pick([-8 * DAY, -HOUR, HOUR, 8 * DAY]) : 0,
      startAfterMs: dice.between(0, isWeek ? HOUR : 2 * SECOND),
    })),
    shards,
    accounts,
    endpoints,
    ...drawAccepting(seed, subject, drawWrites(dice, phaseMs, isWeek)),
    acts: [
      ...drawActs(dice, endpoints.length, phaseMs),
      ...drawRetries(new Dice(seed, 5), endpoints.length, phaseMs),
      ...drawDelivers(delivers, endpoints.length, phaseMs),
      ...drawSome(new Dice(seed, 7), 'cancel', endpoints.length, phaseMs),
      ...drawSome(new Dice(seed, 8), 'recover', endpoints.length, phaseMs),
    ],
    faults,
    weather,
    wakeUpsLost,
    phaseMs,
    drainMs: isWeek ? 20 * DAY : 40 * MINUTE,
    resumesAll: dice.chance(0.8),
    options,
    limits: toLimits(options, { weather, wakeUpsLost, faults }, isWeek ? WEEK_SLOWER : 1),
  }
}

function drawEndpoints(
  dice: Dice,
  world: { isWeek: boolean; phaseMs: number; shardCount: number; accounts: number },
  delivers: Dice,
): EndpointPlan[] {
  return Array.from({ length: dice.whole(1, world.isWeek ? 3 : 5) }, (_, number) => ({
    account: dice.chance(0.4) ? null : dice.whole(0, world.accounts - 1),
    events: null,
    shard: dice.whole(0, world.shardCount - 1),
    keyName: `e${number}k0`,
    registeredAfterMs: dice.chance(0.8) ? 0 : dice.between(0, world.phaseMs / 2),
    spells: drawSpells(dice, world.phaseMs),
    finalMood: world.isWeek && dice.chance(0.5) ? dice.pick(['failing', 'hanging']) : 'ok',
    deliver: delivers.chance(0.35) ? 'latest' : 'every',
  }))
}

function drawSpells(dice: Dice, phaseMs: number): Spell[] {
  const count = dice.pick([1, 1, 2, 3, 5])
  const spells = Array.from({ length: count }, (_, index) => ({
    fromMs: index === 0 ? 0 : dice.between(0, phaseMs),
    mood: dice.chance(0.35) ? ('ok' as const) : dice.pick(MOODS),
  }))
  return spells.sort((one, other) => one.fromMs - other.fromMs)
}

function drawWrites(dice: Dice, phaseMs: number, isWeek: boolean): WritePlan[] {
  const writes: WritePlan[] = []
  // A burst makes lanes overflow, and circuits open.
  const payments = dice.pick(isWeek ? [1, 2] : [1, 1, 2, 2, 3, 8])
  for (let payment = 0; payment < payments; payment++) {
    const versions = dice.pick(isWeek ? [1, 2, 3] : [1, 1, 2, 3, 4])
    let afterMs = dice.between(0, phaseMs * 0.7)
    for (let version = 1; version <= versions; version++) {
      const content = dice.chance(0.1) ? version - 1 : version
      const copies = dice.chance(0.1) ? dice.whole(2, 4) : 1
      writes.push({ afterMs, payment, version, content, copies })
      // Now and then two come at once, or the older one after the newer.
      afterMs = Math.max(0, afterMs + dice.pick([0, -50, 20, 500, phaseMs / 10, phaseMs / 4]))
    }
  }
  return writes
}

function drawActs(dice: Dice, endpoints: number, phaseMs: number): ActPlan[] {
  const acts: ActPlan[] = []
  const draw = (kind: ActPlan['kind'], share: number) => {
    if (dice.chance(share)) {
      const endpoint = dice.whole(0, endpoints - 1)
      acts.push({ afterMs: dice.between(0, phaseMs), kind, endpoint })
    }
  }
  draw('rotate', 0.25)
  draw('rotate', 0.1)
  draw('delete', 0.1)
  draw('replay', 0.25)
  draw('replay', 0.15)
  if (dice.chance(0.3)) {
    const endpoint = dice.whole(0, endpoints - 1)
    const afterMs = dice.between(0, phaseMs * 0.8)
    acts.push({ afterMs, kind: 'pause', endpoint })
    if (dice.chance(0.7)) {
      acts.push({ afterMs: dice.between(afterMs, phaseMs), kind: 'resume', endpoint })
    }
  }
  return acts
}

/** With dice of their own, so that a seed keeps the rest of its world. Some come twice at once. */
function drawRetries(dice: Dice, endpoints: number, phaseMs: number): ActPlan[] {
  const count = dice.pick([0, 1, 2, 4])
  return Array.from({ length: count }, () => ({
    afterMs: dice.between(0, phaseMs),
    kind: dice.pick(['retry', 'retry-endpoint'] as const),
    endpoint: dice.whole(0, endpoints - 1),
  })).flatMap((act) => (dice.chance(0.2) ? [act, act] : [act]))
}

/** With dice of their own, too. */
function drawSome(
  dice: Dice,
  kind: ActPlan['kind'],
  endpoints: number,
  phaseMs: number,
): ActPlan[] {
  return Array.from({ length: dice.pick([0, 0, 1, 3]) }, () => ({
    afterMs: dice.between(0, phaseMs),
    kind,
    endpoint: dice.whole(0, endpoints - 1),
  }))
}

/** Now and then an endpoint asks for the other way. */
function drawDelivers(dice: Dice, endpoints: number, phaseMs: number): ActPlan[] {
  const count = dice.pick([0, 0, 0, 1, 2])
  return Array.from({ length: count }, () => ({
    afterMs: dice.between(0, phaseMs),
    kind: 'deliver' as const,
    endpoint: dice.whole(0, endpoints - 1),
  }))
}

const FAULTS = [
  ...(['crash', 'stall', 'partition', 'starve', 'stop'] as const),
  ...(['database-clock', 'wall-clock', 'sleep', 'pause'] as const),
] as const

/** A correction of moments, or a jump of minutes; in either direction. */
function drawJump(dice: Dice): number {
  const lengthMs = dice.chance(0.5) ? dice.between(0, 400) : dice.between(10 * SECOND, 5 * MINUTE)
  return dice.chance(0.5) ? lengthMs : -lengthMs
}

function drawFaults(dice: Dice, nodes: number, phaseMs: number, isWeek: boolean): FaultPlan[] {
  const kinds = FAULTS.filter(() => dice.chance(0.4))
  if (kinds.length === 0) return []
  return Array.from({ length: dice.whole(1, 5) }, () => {
    const kind = dice.pick(kinds)
    const isAtSend = kind === 'stall' && !isWeek && dice.chance(0.5)
    // Leases that cannot be renewed, and clocks that stand still, matter only once they run out.
    const lengthMs =
      kind === 'database-clock' || kind === 'wall-clock'
        ? drawJump(dice)
        : (isAtSend || kind === 'starve' || kind === 'sleep' || kind === 'pause') && !isWeek
          ? dice.between(15 * SECOND, 50 * SECOND)
          : isWeek
            ? dice.skewed(MINUTE, 6 * HOUR)
            : dice.skewed(200, 45 * SECOND)
    const afterMs = dice.between(0, phaseMs)
    return { afterMs, kind, node: dice.whole(0, nodes - 1), lengthMs, isAtSend, isCut: false }
  })
}

/** Sessions that end while their process is frozen or cut off, and some that end for no reason. With dice of their own,
 *  so that a seed keeps the rest of its world. */
function drawCuts(dice: Dice, faults: FaultPlan[], nodes: number, phaseMs: number): FaultPlan[] {
  const isStill = ({ kind }: FaultPlan) => kind === 'stall' || kind === 'partition'
  const struck = faults.map((fault) => ({ ...fault, isCut: isStill(fault) && dice.chance(0.6) }))
  const cuts = Array.from({ length: dice.pick([0, 0, 0, 1, 3]) }, () => ({
    afterMs: dice.between(0, phaseMs),
    kind: 'cut' as const,
    node: dice.whole(0, nodes - 1),
    lengthMs: dice.skewed(100, 5 * SECOND),
    ...{ isAtSend: false, isCut: true },
  }))
  return [...struck, ...cuts]
}
