// When the next attempt starts, as lists and pages say it. A time that has come is due: "3 s ago" would say
// that it was missed. What another update of the payment goes before has no time of its own.

import type { Delivery } from '../../api/types.ts'
import { Time, useNow } from './time.tsx'

export function NextAttempt({
  of,
}: {
  of: Pick<Delivery, 'state' | 'nextAttemptAt' | 'waitsFor'>
}) {
  if (of.state !== 'PENDING') return <span className="muted">–</span>
  if (of.waitsFor !== null) return <span className="muted">waits for #{of.waitsFor}</span>
  if (of.nextAttemptAt === null) return <span className="muted">waits</span>
  return <NextTime at={of.nextAttemptAt} />
}

export function NextTime({ at }: { at: string }) {
  const nowMs = useNow()
  return Date.parse(at) <= nowMs ? 'now' : <Time at={at} as="relative" />
}
