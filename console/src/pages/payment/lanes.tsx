// For each endpoint a lane, in it a cell for each event of the payment: the state of its delivery there.

import type { Delivery, EventKind } from '../../api/types.ts'
import { State } from '../../ui/basics/badge.tsx'
import { Link } from '../../ui/basics/link.tsx'
import { toOutcomeText } from '../../ui/basics/outcome.ts'
import { NextTime } from '../../ui/times/next-attempt.tsx'
import { Time } from '../../ui/times/time.tsx'

export interface LaneEvent {
  id: string
  event: EventKind
  sequence: number
  createdAt: string
  state?: string
}

/** `events` in sequence. */
export function Lanes({
  events,
  deliveries,
}: {
  events: readonly LaneEvent[]
  deliveries: readonly Delivery[]
}) {
  const endpoints = new Map(deliveries.map((one) => [one.endpointId, one.endpointUrl]))
  return (
    <div className="lanes">
      <section className="lane" aria-label="Events">
        <h3>Events</h3>
        <ol>
          {events.map(({ id, event, sequence, createdAt, state }) => (
            <li key={id}>
              <strong>
                {sequence}. <code>{event.replace('payment.', '')}</code>
              </strong>
              {state ? <State of={state} /> : null}
              <span className="muted">
                <Time at={createdAt} as="short" />
              </span>
            </li>
          ))}
        </ol>
      </section>
      {[...endpoints].map(([endpointId, url]) => (
        <section key={endpointId} className="lane" aria-label={`Deliveries to ${url}`}>
          <h3>
            <Link to={`/endpoints/${endpointId}`} className="break">
              {url}
            </Link>
          </h3>
          <ol>
            {events.map((event) => {
              const own = deliveries.filter((one) => one.endpointId === endpointId)
              return (
                <Stop
                  key={event.id}
                  event={event}
                  delivery={own.find((one) => one.eventId === event.id)}
                />
              )
            })}
          </ol>
        </section>
      ))}
    </div>
  )
}

function Stop({ event, delivery }: { event: LaneEvent; delivery: Delivery | undefined }) {
  if (delivery === undefined) {
    return <li className="muted is-none">{event.sequence}. not sent here</li>
  }
  const { id, state, attempts, lastOutcome, nextAttemptAt, waitsFor } = delivery
  return (
    <li>
      <Link to={`/deliveries/${id}`} aria-label={`Delivery of event ${event.sequence}: ${state}`}>
        {event.sequence}. <State of={state} />
      </Link>
      <span className="muted">
        {attempts === 0 ? 'not attempted' : `${attempts} attempt${attempts === 1 ? '' : 's'}`}
        {lastOutcome === null ? '' : `, ${toOutcomeText(lastOutcome)}`}
      </span>
      {state !== 'PENDING' ? null : waitsFor !== null ? (
        <span>waits for #{waitsFor}</span>
      ) : nextAttemptAt !== null ? (
        <span>
          next <NextTime at={nextAttemptAt} />
        </span>
      ) : (
        <span>waits for the endpoint</span>
      )}
    </li>
  )
}
