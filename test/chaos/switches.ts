// When endpoints were active: what their owner asked for beside what the database holds. A call that its caller has given up,
// and repeated elsewhere, may be carried out long after the next one, and the service disables endpoints by itself. So what
// the database says is what was; the caller knows when it asked, and when it was answered.

import type { EndpointStatus } from '../../server/core/delivery/endpoint.ts'
import type { EndpointAct, Violation } from '../simulator/records.ts'
import type { KnownEndpoint } from './endpoints.ts'

export interface StatusChange {
  endpointId: string
  status: EndpointStatus
  atMs: number
  /** The time that the row was given, by the clock of the process that served it. */
  writtenMs: number
}

const SWITCHES = { ACTIVE: 'resume', PAUSED: 'pause', DISABLED: 'disable' } as const
const KINDS: readonly EndpointAct['kind'][] = Object.values(SWITCHES)

/** The kernel tells hundredths of a second, rounded down: what is noted may seem to be earlier than it was asked for. */
const NOTED_EARLY_MS = 20

/** Its acts in the order in which they held, with each change of its status in place of the calls that asked for one. */
export function asStored(
  endpointId: string,
  acts: readonly EndpointAct[],
  changes: readonly StatusChange[],
): EndpointAct[] {
  const own = changes.filter((change) => change.endpointId === endpointId)
  const others = acts.filter(({ kind }) => !KINDS.includes(kind))
  return [...others, ...own.map((change) => toAct(change, acts))].sort(
    (one, other) => one.appliedAtMs - other.appliedAtMs,
  )
}

function toAct(
  { status, atMs, writtenMs }: StatusChange,
  acts: readonly EndpointAct[],
): EndpointAct {
  const kind = SWITCHES[status]
  const calls = acts.filter((act) => act.kind === kind)
  const asked = calls.findLast(({ askedAtMs }) => askedAtMs <= atMs + NOTED_EARLY_MS)
  // Of a call that came too late nobody was told; who asked for the same again was told that it holds.
  const told = calls.find(({ acknowledgedAtMs }) => (acknowledgedAtMs ?? 0) >= atMs)
  return {
    kind,
    askedAtMs: Math.min(asked?.askedAtMs ?? atMs, atMs),
    appliedAtMs: atMs,
    acknowledgedAtMs: told?.acknowledgedAtMs ?? null,
    writtenMs,
    node: asked?.node ?? null,
    keyName: null,
  }
}

/** I13: what was acknowledged held at some moment between the question and its answer. */
export function unheeded(
  known: readonly KnownEndpoint[],
  changes: readonly StatusChange[],
): Violation[] {
  return known.flatMap(({ id, acts }) => {
    const own = changes.filter(({ endpointId }) => endpointId === id)
    const registered = { status: 'ACTIVE' as const, atMs: Number.NEGATIVE_INFINITY }
    const states: Pick<StatusChange, 'status' | 'atMs'>[] = [registered, ...own]
    return acts.flatMap(({ kind, askedAtMs, acknowledgedAtMs: endMs }): Violation[] => {
      if (endMs === null || !KINDS.includes(kind)) return []
      const isHeld = states.some(({ status, atMs }, index) => {
        const untilMs = states[index + 1]?.atMs ?? Number.POSITIVE_INFINITY
        return SWITCHES[status] === kind && atMs <= endMs && untilMs >= askedAtMs - NOTED_EARLY_MS
      })
      const detail = `a ${kind} was acknowledged, and never held`
      const common = { invariant: 'I13', detail, paymentId: null }
      return isHeld ? [] : [{ ...common, endpointId: id, atMs: endMs }]
    })
  })
}
