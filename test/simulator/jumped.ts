// A world in which the database's clock is 8 days ahead for a minute and a half, as after a fail-over to a server whose
// clock is wrong, while a receiver fails: all that is owed is then past its 7 days, and so is the endpoint.

import { calmPlan } from './crash-points.ts'
import { DAY, SECOND } from './durations.ts'
import type { Plan } from './plan.ts'
import type { Subject } from './subject.ts'

export function jumpedPlan(subject: Subject): Plan {
  const plan = calmPlan(subject, 1)
  const [endpoint] = plan.endpoints as [Plan['endpoints'][number]]
  const jump = { kind: 'database-clock' as const, node: 0, isAtSend: false, isCut: false }
  return {
    ...plan,
    endpoints: [
      {
        ...endpoint,
        spells: [
          { fromMs: 0, mood: 'failing' },
          { fromMs: 150 * SECOND, mood: 'ok' },
        ],
      },
    ],
    // One update: a second would go ahead of it, and then wait for a time of the wrong clock.
    writes: plan.writes.filter(({ version }) => version === 1),
    faults: [
      { ...jump, afterMs: 30 * SECOND, lengthMs: 8 * DAY },
      { ...jump, afterMs: 120 * SECOND, lengthMs: 0 },
    ],
    phaseMs: 160 * SECOND,
  }
}
