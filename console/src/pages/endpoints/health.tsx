// The health of an endpoint, as cells of a table.

import type { EndpointHealth } from '../../api/types.ts'
import { Badge, State } from '../../ui/basics/badge.tsx'
import { NextTime } from '../../ui/times/next-attempt.tsx'
import { Time } from '../../ui/times/time.tsx'

/** An endpoint that is not active is not probed. */
export function HealthText({
  of: health,
  isActive,
}: {
  of: EndpointHealth | undefined
  isActive: boolean
}) {
  if (health === undefined) return <span className="muted">–</span>
  const { failingSince, lastError, lastSuccessAt, circuit, nextProbeAt } = health
  if (failingSince !== null) {
    return (
      <>
        <Badge tone="bad">failing</Badge> <Recovering of={circuit} />
        <div className="muted">
          <div className="nowrap">
            {lastError ?? 'no answer'}, since <Time at={failingSince} as="short" />
          </div>
          {nextProbeAt === null || !isActive ? null : (
            <div className="nowrap">
              next probe <NextTime at={nextProbeAt} />
            </div>
          )}
        </div>
      </>
    )
  }
  if (lastSuccessAt === null) return <span className="muted">not tried yet</span>
  return (
    <>
      <Badge tone="good">healthy</Badge> <Recovering of={circuit} />
      <div className="muted nowrap">
        200, <Time at={lastSuccessAt} as="relative" />
      </div>
    </>
  )
}

/** While the circuit is open, the time of the next probe says so in plain words. */
function Recovering({ of }: { of: EndpointHealth['circuit'] }) {
  return of === 'HALF_OPEN' ? <Badge tone="warn">recovering</Badge> : null
}

export function Circuit({ of }: { of: EndpointHealth['circuit'] }) {
  return (
    <>
      <span className="visually-hidden">circuit </span>
      <State of={of} />
    </>
  )
}
