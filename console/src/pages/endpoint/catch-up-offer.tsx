// After a filter was widened: how many events of the added kinds the endpoint never got, and an offer to send them.

import { useEffect, useState } from 'react'
import type { EventChoice } from '../../../../sdk/src/wire/types.ts'
import { useAction, useRefresh } from '../../api/hooks.ts'
import { Button } from '../../ui/basics/button.tsx'
import { Loading, Problem } from '../../ui/basics/messages.tsx'
import { useToast } from '../../ui/basics/toast.tsx'
import { Dialog } from '../../ui/forms/dialog.tsx'
import { toCountText } from '../../ui/lists/numbers.ts'
import { countMissing, type Missing, sendMissing } from './recover/missing.ts'

const DAYS_BACK = 7

export function CatchUpOffer({
  path,
  events,
  onClose,
}: {
  path: string
  /** The kinds that were added. */
  events: readonly EventChoice[]
  onClose(): void
}) {
  const refresh = useRefresh()
  const toast = useToast()
  const [missing] = useState<Missing>(() => {
    const nowMs = Date.now()
    const since = new Date(nowMs - DAYS_BACK * 86_400_000).toISOString()
    return { since, until: new Date(nowMs).toISOString(), events }
  })
  const [count, setCount] = useState<number | null>(null)
  const { mutate: askFor, error } = useAction((wanted: Missing) => countMissing(path, wanted), {
    onDone: setCount,
  })
  const send = useAction((wanted: Missing) => sendMissing(path, wanted), {
    onDone: (sent) => {
      refresh('/v1/deliveries', '/v1/webhooks')
      toast(`${toCountText(sent)} queued to be sent.`)
      onClose()
    },
  })
  useEffect(() => askFor(missing), [askFor, missing])
  const problem = send.error ?? error
  return (
    <Dialog title="Changed. Catch up?" onClose={onClose}>
      <p>
        It gets {events.join(', ')} from now on. <CountText of={count} />
      </p>
      <p className="muted">
        For another time, use “Missed events” under Recover, or{' '}
        <code>paybell webhooks replay-missing</code>.
      </p>
      {count === null && !problem ? <Loading /> : null}
      {problem ? <Problem problem={problem} /> : null}
      <div className="dialog-actions">
        <Button onClick={onClose}>Close</Button>
        {count ? (
          <Button look="primary" disabled={send.isPending} onClick={() => send.mutate(missing)}>
            Send {toCountText(count)}
          </Button>
        ) : null}
      </div>
    </Dialog>
  )
}

function CountText({ of }: { of: number | null }) {
  return (
    <span role="status">
      {of === null
        ? ''
        : of === 0
          ? `None of the last ${DAYS_BACK} days is missing.`
          : `${toCountText(of)} of the last ${DAYS_BACK} days were never sent to it.`}
    </span>
  )
}
