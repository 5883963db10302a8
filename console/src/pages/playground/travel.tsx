// The callbacks of the payment: for each event its attempts in a row, what the receiver answered, and
// when the next one goes.

import { useRead } from '../../api/hooks.ts'
import type { Delivery, DeliveryDetail } from '../../api/types.ts'
import { State } from '../../ui/basics/badge.tsx'
import { Link } from '../../ui/basics/link.tsx'
import { Empty } from '../../ui/basics/messages.tsx'
import { toOutcomeText } from '../../ui/basics/outcome.ts'
import { toMsText } from '../../ui/lists/numbers.ts'
import { Explanation } from '../../ui/times/explanation.tsx'
import { NextTime } from '../../ui/times/next-attempt.tsx'
import { toTimeText } from '../../ui/times/time.tsx'
import { useZone } from '../../ui/times/zone.ts'

/** As many as a reader can take in; the delivery's own page has all of them. */
const SHOWN_MAX = 60

export function Travel({ deliveries }: { deliveries: readonly Delivery[] }) {
  if (deliveries.length === 0) {
    return (
      <Empty title="No callbacks yet">
        Choose what the receiver answers, create the payment, and watch: every change is an event,
        every event a callback.
      </Empty>
    )
  }
  const inSequence = deliveries.toSorted((a, b) => a.sequence - b.sequence)
  return (
    <ol className="travel">
      {inSequence.map((delivery) => (
        <Track key={delivery.id} delivery={delivery} />
      ))}
    </ol>
  )
}

function Track({ delivery }: { delivery: Delivery }) {
  useZone()
  const { id, sequence, event, state, nextAttemptAt, waitsFor } = delivery
  const { data } = useRead<DeliveryDetail>(`/operator/v1/deliveries/${id}`)
  const attempts = data?.attemptLog ?? []
  const left = attempts.length - SHOWN_MAX
  return (
    <li>
      <div className="row">
        <Link to={`/deliveries/${id}`}>
          {sequence}. {event}
        </Link>
        <State of={data?.state ?? state} />
      </div>
      <ol className="attempts" aria-label={`Attempts of event ${sequence}`}>
        {left > 0 ? <li className="muted">{left} earlier</li> : null}
        {attempts.slice(-SHOWN_MAX).map((attempt) => (
          <li
            key={attempt.attempt}
            className={attempt.status === 200 ? 'attempt tone-good' : 'attempt tone-bad'}
            title={`Attempt ${attempt.attempt} at ${toTimeText(new Date(attempt.at))}, ${toMsText(attempt.durationMs)}`}
          >
            <span className="visually-hidden">Attempt {attempt.attempt}: </span>
            {attempt.status ?? toOutcomeText(attempt.error)}
          </li>
        ))}
        {(data?.state ?? state) === 'PENDING' && nextAttemptAt !== null ? (
          <li className="attempt is-next">
            {waitsFor === null ? (
              <>
                next <NextTime at={nextAttemptAt} />
              </>
            ) : (
              `waits for #${waitsFor}`
            )}
          </li>
        ) : null}
      </ol>
      {data ? (
        <p className="muted">
          <Explanation parts={data.explanationParts} />
        </p>
      ) : null}
    </li>
  )
}
