// Worlds in which an update goes ahead of a failing one, the receiver takes it in, and the sender does not
// hear of it: the answer is late, or lost. The older one falls due before the newer one's retry. And then
// the same with its process killed at each point, where every update is asked for and where only the latest is.

import { calmPlan } from './crash-points.ts'
import { HOUR, MINUTE, SECOND } from './durations.ts'
import type { Plan } from './plan.ts'
import type { Mood } from './receivers.ts'
import type { Subject } from './subject.ts'

export function overtakenPlan(subject: Subject, mood: Mood, strandMax: number): Plan {
  const plan = calmPlan(subject, 1)
  const [endpoint] = plan.endpoints as [Plan['endpoints'][number]]
  const { options, limits } = plan
  // The first update is tried at 2 s and at about 7 s, and falls due again at about 17 s. It gives way at
  // 14 s, when the second one goes ahead, to be tried again after 29 s.
  const patienceMs = 12 * SECOND
  const { policies } = options
  const circuit = subject.circuitPolicy()
  return {
    ...plan,
    endpoints: [
      {
        ...endpoint,
        spells: [
          { fromMs: 0, mood: 'failing' },
          { fromMs: 13 * SECOND, mood },
          { fromMs: 22 * SECOND, mood: 'ok' },
        ],
      },
    ],
    phaseMs: 40 * SECOND,
    options: {
      ...options,
      // Roomy, whatever the plan that it is made from has drawn.
      policies: { ...policies, circuit, patienceMs },
      lanes: { ...options.lanes, slots: 9, perLaneMax: 9, unprovenMax: 9 },
      dueReader: { ...options.dueReader, strandMax },
    },
    limits: { ...limits, patienceMs },
  }
}

/**
 * The clock is an hour and more ahead from 8 s to 16 s: by it the patience is over, and the second update goes ahead. A
 * process that takes over when the clock is right finds the first one entitled again.
 */
export function misledPlan(subject: Subject, mood: Mood, strandMax: number): Plan {
  const plan = overtakenPlan(subject, mood, strandMax)
  const [endpoint] = plan.endpoints as [Plan['endpoints'][number]]
  const patienceMs = HOUR
  const aheadMs = HOUR + MINUTE
  const { policies } = plan.options
  const jump = { kind: 'database-clock' as const, node: 0, isAtSend: false, isCut: false }
  return {
    ...plan,
    endpoints: [
      {
        ...endpoint,
        spells: [
          { fromMs: 0, mood: 'failing' },
          { fromMs: 8 * SECOND, mood },
          { fromMs: 22 * SECOND, mood: 'ok' },
        ],
      },
    ],
    faults: [
      { ...jump, afterMs: 8 * SECOND, lengthMs: aheadMs },
      { ...jump, afterMs: 16 * SECOND, lengthMs: 0 },
    ],
    options: { ...plan.options, policies: { ...policies, patienceMs } },
    // The second goes early by as much as the clock was ahead; that is not what is asked here.
    limits: { ...plan.limits, patienceMs, clocksApartMs: aheadMs, clockErrorMs: aheadMs },
  }
}

/** The second update comes while the first one fails, and goes at once: its answer is late, or lost. */
export function latestPlan(subject: Subject, mood: Mood, strandMax: number): Plan {
  const plan = overtakenPlan(subject, mood, strandMax)
  const [endpoint] = plan.endpoints as [Plan['endpoints'][number]]
  const writes = plan.writes.map((write) => ({
    ...write,
    afterMs: write.version === 1 ? 2 * SECOND : 14 * SECOND,
  }))
  return { ...plan, writes, endpoints: [{ ...endpoint, deliver: 'latest' }] }
}
