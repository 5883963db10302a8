// When a certificate ends. It is said in words as it comes near, at the same distances as the operator's notices.

import { Badge } from '../../ui/basics/badge.tsx'
import { Time, useNow } from '../../ui/times/time.tsx'
import { nearness } from './nearness.ts'

export function Ends({ at }: { at: string | null }) {
  const nowMs = useNow()
  if (at === null) return <Badge>NOT SIGNED YET</Badge>
  const near = nearness(Date.parse(at) - nowMs)
  return (
    <>
      <Time at={at} as="short" /> {near ? <Badge tone={near.tone}>{near.text}</Badge> : null}
    </>
  )
}
