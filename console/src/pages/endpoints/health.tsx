// The health of an endpoint, as cells of a table.

import type { EndpointHealth } from '../../api/types.ts'
import { Badge, State } from '../../ui/badge.tsx'
import { NextTime } from '../../ui/next-attempt.tsx'
import { Time } from '../../ui/time.tsx'

export function HealthText({ of: health }: { of: EndpointHealth | undefined }) {
  if (health === undefined) return <span className="muted">–</span>
  const { failingSince, lastError, lastSuccessAt, circuit, nextProbeAt } = health
  if (failingSince !== null) {
    return (
      <>
        <Badge tone="bad">failing</Badge> {circuit === 'CLOSED' ? null : <Circuit of={circuit} />}
        <div className="muted">
          {lastError ?? 'no answer'}, since <Time at={failingSince} as="short" />
          {nextProbeAt === null ? null : (
            <>
              ; next probe <NextTime at={nextProbeAt} />
            </>
          )}
        </div>
      </>
    )
  }
  if (lastSuccessAt === null) return <span className="muted">not tried yet</span>
  return (
    <>
      <Badge tone="good">healthy</Badge> {circuit === 'CLOSED' ? null : <Circuit of={circuit} />}
      <div className="muted nowrap">
        200, <Time at={lastSuccessAt} as="relative" />
      </div>
    </>
  )
}

export function Circuit({ of }: { of: EndpointHealth['circuit'] }) {
  return (
    <>
      <span className="visually-hidden">circuit </span>
      <State of={of} />
    </>
  )
}
