// When the next attempt starts, as lists and pages say it. A time that has come is due: "3 s ago" would say
// that it was missed.

import type { Delivery } from '../../api/types.ts'
import { Time, useNow } from './time.tsx'

export function NextAttempt({ of }: { of: Pick<Delivery, 'state' | 'nextAttemptAt'> }) {
  if (of.state !== 'PENDING') return <span className="muted">–</span>
  if (of.nextAttemptAt === null) return <span className="muted">waits</span>
  return <NextTime at={of.nextAttemptAt} />
}

export function NextTime({ at }: { at: string }) {
  const nowMs = useNow()
  return Date.parse(at) <= nowMs ? 'now' : <Time at={at} as="relative" />
}
