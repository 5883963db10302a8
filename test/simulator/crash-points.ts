// Every crash point: one delivery's life is cut at each event that reaches its process, and then at
// each pair of events with two processes. Whatever was cut, the delivery must end as it should.

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

/** Runs the calm world and crashes the processes at the given events, counted per life of it. */
export async function crashAt(
  subject: Subject,
  plan: Plan,
  cuts: readonly { step: number; node: number }[],
): Promise<Verdict & { stepsInLife: number }> {
  let steps = 0
  const verdict = await simulate(plan.seed, subject, {
    plan,
    onStep: (world) => {
      // The life of the deliveries: from the first write until both have ended.
      const { nowMs } = world.scheduler
      if (nowMs < world.startMs + 2 * SECOND || world.finals.length >= 2) return
      steps++
      for (const cut of cuts) if (cut.step === steps) world.crash(cut.node, 500)
    },
  })
  return { ...verdict, stepsInLife: steps }
}

/** All single cuts, then pairs with two processes; returns what broke. */
export async function cutEverywhere(
  subject: Subject,
  pairsEvery: number,
): Promise<{ points: number; pairs: number; broken: string[] }> {
  const { points, broken } = await cutOnce(subject, calmPlan(subject, 1))
  const two = calmPlan(subject, 2)
  const { stepsInLife } = await crashAt(subject, two, [])
  let pairs = 0
  for (let first = 1; first <= stepsInLife; first++) {
    for (let second = first + 1; second <= stepsInLife; second++) {
      if ((first * 31 + second) % pairsEvery !== 0) continue
      pairs++
      const cuts = [
        { step: first, node: 0 },
        { step: second, node: 1 },
      ]
      const { violations } = await crashAt(subject, two, cuts)
      if (violations[0]) broken.push(`cuts ${first} and ${second}: ${violations[0].detail}`)
    }
  }
  return { points, pairs, broken }
}

/** All single cuts of one process of a world. */
export async function cutOnce(
  subject: Subject,
  plan: Plan,
  every = 1,
  node = 0,
): Promise<{ points: number; broken: string[] }> {
  const broken: string[] = []
  const { stepsInLife: points } = await crashAt(subject, plan, [])
  for (let step = 1; step <= points; step += every) {
    const { violations } = await crashAt(subject, plan, [{ step, node }])
    if (violations[0]) broken.push(`cut ${step}: ${violations[0].detail}`)
  }
  return { points, broken }
}
