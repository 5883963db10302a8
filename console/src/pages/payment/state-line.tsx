// The states of a payment, DRAFT … PAID: which it has been in and since when, which it is in, and which
// may come.

import type { PaymentState } from '../../api/types.ts'
import { Time } from '../../ui/times/time.tsx'

/** Entered with one of the payment's events; a client sees the event without its state. */
export interface StateEntry {
  state: PaymentState
  at: string
  sequence: number
}

const WAY: readonly PaymentState[] = ['DRAFT', 'PENDING_APPROVAL', 'DUE', 'PAID']

export function StateLine({
  now,
  entries,
  isWhole = true,
}: {
  now: PaymentState
  entries: readonly StateEntry[]
  /** False where the state of some events is not known: a client sees their kinds only. */
  isWhole?: boolean
}) {
  const steps = stepsOf(now, entries)
  const reached = steps.indexOf(now)
  return (
    <ol className="state-line" aria-label="States of the payment">
      {steps.map((state, index) => {
        const entry = entries.findLast((one) => one.state === state)
        const isNow = state === now
        const isPast = index < reached
        // What is not known to have been is not drawn as passed.
        const isSkipped = isPast && entry === undefined
        const look = isNow ? 'is-now' : isSkipped ? 'is-skipped' : isPast ? 'is-past' : 'is-ahead'
        return (
          <li
            key={state}
            className={`${look} state-${state.toLowerCase()}`}
            aria-current={isNow ? 'step' : undefined}
          >
            <span className="state-name">{toSentenceCase(state)}</span>
            <span className="muted">
              {entry ? (
                <>
                  <Time at={entry.at} as="short" /> · event {entry.sequence}
                </>
              ) : (
                word({ isNow, isPast, isWhole })
              )}
            </span>
          </li>
        )
      })}
    </ol>
  )
}

/** `PENDING_APPROVAL` → `Pending approval`. */
function toSentenceCase(state: PaymentState): string {
  return state[0] + state.slice(1).toLowerCase().replaceAll('_', ' ')
}

/** A payment that was cancelled has only the states that it was in: the others were not on its way. */
function stepsOf(now: PaymentState, entries: readonly StateEntry[]): readonly PaymentState[] {
  if (now !== 'CANCELLED') return WAY
  const hasEntry = (state: PaymentState) => entries.some((one) => one.state === state)
  return [...WAY.filter((state) => state === 'DRAFT' || hasEntry(state)), 'CANCELLED']
}

interface Standing {
  isNow: boolean
  isPast: boolean
  isWhole: boolean
}

function word({ isNow, isPast, isWhole }: Standing): string {
  if (isNow) return 'now'
  if (isPast) return isWhole ? 'skipped' : 'not known'
  return 'not yet'
}
