// Every crash point: one delivery's life is cut at each event after which something else is left behind, and then at
// pairs of them with two processes. Whatever was cut, the delivery must end as it should.

import { drawNumber, sampleName } from '../support/sample.ts'
import { CRASHES } from '../support/slices.ts'
import { SECOND } from './durations.ts'
import type { Plan } from './plan.ts'
import { drawPlan } from './plan.ts'
import { simulate, type Verdict } from './simulate.ts'
import type { Subject } from './subject.ts'

/** A calm world with one endpoint and two updates of one payment; the first one fails once. */
export function calmPlan(subject: Subject, nodes: number): Plan {
  const plan = drawPlan(1, subject)
  const { policies } = plan.options
  return {
    ...plan,
    cadence: 'seconds',
    nodes: Array.from({ length: nodes }, () => ({ wallOffsetMs: 0, startAfterMs: 0 })),
    shards: [0],
    accounts: 1,
    endpoints: [
      {
        account: null,
        events: null,
        shard: 0,
        keyName: 'e0k0',
        registeredAfterMs: 0,
        spells: [
          { fromMs: 0, mood: 'failing' },
          { fromMs: 2.5 * SECOND, mood: 'ok' },
        ],
        finalMood: 'ok',
        deliver: 'every',
      },
    ],
    writes: [
      { afterMs: 2 * SECOND, payment: 0, version: 1, content: 1, copies: 1 },
      { afterMs: 3 * SECOND, payment: 0, version: 2, content: 2, copies: 1 },
    ],
    locks: [],
    accepting: { gatherer: subject.GATHERER_LIMITS, holds: subject.HOLD_LIMITS },
    acts: [],
    faults: [],
    weather: { delayMsMax: 4, unapplied: 0, answerLost: 0, hang: 0 },
    wakeUpsLost: 0,
    phaseMs: 15 * SECOND,
    options: {
      ...plan.options,
      policies: { ...policies, patienceMs: 3_600 * SECOND },
    },
    limits: { ...plan.limits, patienceMs: 3_600 * SECOND },
  }
}

/** Two processes, and four callers with the same two updates at the same moment. */
export function contendedPlan(subject: Subject): Plan {
  const plan = calmPlan(subject, 2)
  const [endpoint] = plan.endpoints as [Plan['endpoints'][number]]
  return {
    ...plan,
    endpoints: [{ ...endpoint, spells: [{ fromMs: 0, mood: 'ok' }] }],
    writes: [1, 2].map((version) => ({
      ...{ afterMs: 2 * SECOND, payment: 0, version, content: version, copies: 4 },
    })),
  }
}

/** Runs the world and crashes its processes at the given events, counted from the first write until both deliveries have
 *  ended. Returns what those events are, too. */
export async function crashAt(
  subject: Subject,
  plan: Plan,
  cuts: readonly { event: number; node: number }[],
): Promise<Verdict & { life: string[] }> {
  const life: string[] = []
  const verdict = await simulate(plan.seed, subject, {
    plan,
    onStep: (world, label) => {
      const { nowMs } = world.scheduler
      if (nowMs < world.startMs + 2 * SECOND || world.finals.length >= 2) return
      for (const { event, node } of cuts) if (event === life.length) world.crash(node, 500)
      life.push(label)
    },
  })
  return { ...verdict, life }
}

/** Which of so many comes first: each commit begins elsewhere, so that over the landings none is left out. */
export interface Phases {
  inMemory: number
  pairs: number
}

export function drawPhases(sample = sampleName()): Phases {
  return {
    inMemory: drawNumber(CRASHES.inMemoryEvery, 'crashes in memory', sample),
    pairs: drawNumber(CRASHES.pairsEvery, 'pairs of crashes', sample),
  }
}

/**
 * The events at which a crash makes a difference. A timer, a beat and an answer to a read change nothing but the memory of
 * their process: one that dies at them has left behind what it had at the event before. Of these, some, because
 * time passes.
 */
export function pointsOf(life: readonly string[], { inMemory }: Phases): number[] {
  let passed = 0
  return [...life.keys()].filter((event) => {
    const isOfMemory = / ?(timer|beat|read\w+)$/.test(life[event] as string)
    return !isOfMemory || passed++ % CRASHES.inMemoryEvery === inMemory
  })
}

/** Of all pairs, those of this phase: of 46,000 a release has time for a thirteenth. */
export function pairsOf(events: readonly number[], { pairs }: Phases): [number, number][] {
  return events.flatMap((first, index) =>
    events
      .slice(index + 1)
      .filter((second) => (first * 31 + second) % CRASHES.pairsEvery === pairs)
      .map((second): [number, number] => [first, second]),
  )
}

/** All single cuts, then pairs with two processes; returns what broke. */
export async function cutEverywhere(
  subject: Subject,
): Promise<{ points: number; pairs: number; broken: string[] }> {
  const { points, broken } = await cutOnce(subject, calmPlan(subject, 1))
  const two = calmPlan(subject, 2)
  const phases = drawPhases()
  const events = pointsOf((await crashAt(subject, two, [])).life, phases)
  const pairs = pairsOf(events, phases)
  for (const [first, second] of pairs) {
    const cuts = [
      { event: first, node: 0 },
      { event: second, node: 1 },
    ]
    const { violations } = await crashAt(subject, two, cuts)
    if (violations[0]) broken.push(`cuts ${first} and ${second}: ${violations[0].detail}`)
  }
  return { points, pairs: pairs.length, broken }
}

/** All single cuts of one process of a world. */
export async function cutOnce(
  subject: Subject,
  plan: Plan,
  node = 0,
): Promise<{ points: number; broken: string[] }> {
  const broken: string[] = []
  const events = pointsOf((await crashAt(subject, plan, [])).life, drawPhases())
  for (const event of events) {
    const { violations } = await crashAt(subject, plan, [{ event, node }])
    if (violations[0]) broken.push(`cut ${event}: ${violations[0].detail}`)
  }
  return { points: events.length, broken }
}
