// The latest attempts: the last ones before the page was opened, and then live from the stream.

import { useState } from 'react'
import { useRead } from '../../api/hooks.ts'
import { useLive } from '../../api/live.ts'
import type { AttemptedEvent, Endpoint } from '../../api/types.ts'
import { Address } from '../../ui/basics/address.tsx'
import { Badge } from '../../ui/basics/badge.tsx'
import { Button } from '../../ui/basics/button.tsx'
import { shortId } from '../../ui/basics/copy.tsx'
import { Link } from '../../ui/basics/link.tsx'
import { Empty } from '../../ui/basics/messages.tsx'
import { toOutcomeText } from '../../ui/basics/outcome.ts'
import { Panel } from '../../ui/basics/page.tsx'
import { type Column, Table } from '../../ui/lists/table.tsx'
import { Time } from '../../ui/times/time.tsx'

const SHOWN_MAX = 20

/** The stream begins again with the last ones after a pause. */
const keyOf = ({ deliveryId, attempt, at }: AttemptedEvent) => `${deliveryId} ${attempt} ${at}`

const COLUMNS: readonly Column<AttemptedEvent>[] = [
  { head: 'Time', cell: ({ at }) => <Time at={at} as="short" /> },
  { head: 'Endpoint', cell: ({ endpointId }) => <EndpointName id={endpointId} /> },
  {
    head: 'Attempt',
    isNumber: true,
    cell: ({ attempt, deliveryId }) => (
      <Link to={`/deliveries/${deliveryId}`} title={`Delivery ${deliveryId}`}>
        {attempt}
      </Link>
    ),
  },
  { head: 'Outcome', cell: (event) => <Outcome of={event} /> },
]

export function LatestAttempts() {
  const [isPaused, setPaused] = useState(false)
  const [events, setEvents] = useState<readonly AttemptedEvent[]>([])
  const add = (event: AttemptedEvent) =>
    setEvents((before) =>
      before.some((one) => keyOf(one) === keyOf(event))
        ? before
        : [event, ...before].slice(0, SHOWN_MAX),
    )
  useLive(!isPaused, { onAttempt: add }, SHOWN_MAX)
  return (
    <Panel
      title="Live attempts"
      isFlush
      aside={
        <Button isSmall aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {isPaused ? 'Resume' : 'Pause'}
        </Button>
      }
    >
      {events.length === 0 ? (
        <Empty title="No attempts yet">
          Attempts of the process that serves this page appear here the moment they end.
        </Empty>
      ) : (
        <div className="latest-attempts">
          <Table label="Latest attempts" columns={COLUMNS} rows={events} keyOf={keyOf} />
        </div>
      )}
    </Panel>
  )
}

/** Events of the stream have ids alone; a name is read once for each endpoint. */
function EndpointName({ id }: { id: string }) {
  const { data } = useRead<Endpoint>(`/operator/v1/endpoints/${id}`, { everyMs: 0 })
  return (
    <>
      <Link to={`/endpoints/${id}`} title={id}>
        {data ? <Address url={data.endpointUrl} /> : shortId(id)}
      </Link>
      {data ? <div className="muted">{data.clientName}</div> : null}
    </>
  )
}

function Outcome({ of: { outcome, status } }: { of: AttemptedEvent }) {
  const text = status === null ? toOutcomeText(outcome) : `answered ${status}`
  return <Badge tone={status === 200 ? 'good' : 'bad'}>{text}</Badge>
}
