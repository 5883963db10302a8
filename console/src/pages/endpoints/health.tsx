// The health of an endpoint, as cells of a table.

import type { EndpointHealth } from '../../api/types.ts'
import { Badge } from '../../ui/basics/badge.tsx'
import { HealthWord } from '../../ui/basics/health-word.tsx'
import { toOutcomeText } from '../../ui/basics/outcome.ts'
import { NextTime } from '../../ui/times/next-attempt.tsx'
import { Time } from '../../ui/times/time.tsx'

/** An endpoint that is not active is not probed. */
export function HealthText({
  of: health,
  status,
}: {
  of: EndpointHealth | undefined
  status: string
}) {
  if (health === undefined) return <span className="muted">–</span>
  const { failingSince, lastError, lastSuccessAt, circuit, nextProbeAt } = health
  if (failingSince !== null) {
    return (
      <>
        <HealthWord status={status} isFailing /> <Recovering of={circuit} />
        <div className="muted">
          <div className="nowrap">
            {toOutcomeText(lastError)}, since <Time at={failingSince} as="short" />
          </div>
          {nextProbeAt === null || status !== 'ACTIVE' ? null : (
            <div className="nowrap">
              next probe <NextTime at={nextProbeAt} />
            </div>
          )}
        </div>
      </>
    )
  }
  if (lastSuccessAt === null && status === 'ACTIVE') {
    return <span className="muted">not tried yet</span>
  }
  return (
    <>
      <HealthWord status={status} isFailing={false} /> <Recovering of={circuit} />
      <div className="muted nowrap">
        {lastSuccessAt === null ? (
          'not tried yet'
        ) : (
          <>
            200, <Time at={lastSuccessAt} as="relative" />
          </>
        )}
      </div>
    </>
  )
}

/** While the circuit is open, the time of the next probe says so in plain words. */
function Recovering({ of }: { of: EndpointHealth['circuit'] }) {
  return of === 'HALF_OPEN' ? <Badge tone="warn">recovering</Badge> : null
}
