// Which deliveries the list shows: a filter that lives in the URL, so that a view can be sent to a
// colleague. The same members go to the API, to the list and to bulk replay and cancel.

import { DELIVERY_STATES } from '../../../../sdk/src/internal/words.ts'
import { endOfAsking } from '../../ui/times/instant.ts'
import { parseInZone, toZoneText } from '../../ui/times/zone.ts'

/** Periods that end now. They stay relative in the URL: a bookmark means the last hour of its reader. */
export const RECENT_PERIODS = {
  '1h': { label: 'Last hour', ms: 3_600_000 },
  '24h': { label: 'Last 24 hours', ms: 86_400_000 },
  '7d': { label: 'Last 7 days', ms: 7 * 86_400_000 },
  '30d': { label: 'Last 30 days', ms: 30 * 86_400_000 },
} as const

export type RecentPeriod = keyof typeof RECENT_PERIODS

/** All as text; empty text does not filter. */
export interface Filter {
  state: string
  event: string
  endpointId: string
  clientId: string
  accountId: string
  paymentId: string
  eventId: string
  externalId: string
  /** What the last attempt came to: `503`, `5xx`, `timeout`. */
  outcome: string
  /** A period, or nothing: then `from` and `to` count. */
  last: string
  from: string
  to: string
  q: string
  /** What one bulk job deals with. */
  job: string
}

const MEMBERS = [
  'state',
  'event',
  'endpointId',
  'clientId',
  'accountId',
  'paymentId',
  'eventId',
  'externalId',
  'outcome',
  'last',
  'from',
  'to',
  'q',
  'job',
] as const satisfies readonly (keyof Filter)[]

/** What the client API knows (decisions §8); the rest is the operator's. */
const OF_CLIENTS: ReadonlySet<keyof Filter> = new Set([
  'state',
  'endpointId',
  'paymentId',
  'externalId',
  'outcome',
  'last',
  'from',
  'to',
])

export const LABELS: Readonly<Record<keyof Filter, string>> = {
  state: 'State',
  event: 'Kind',
  endpointId: 'Endpoint',
  clientId: 'Client',
  accountId: 'Account',
  paymentId: 'Payment',
  eventId: 'Event',
  externalId: 'External id',
  outcome: 'Answer',
  last: 'Time',
  from: 'From',
  to: 'To',
  q: 'Search',
  job: 'Job',
}

export type Kind = 'operator' | 'client'

export function readFilter(query: URLSearchParams, kind: Kind): Filter {
  const entries = MEMBERS.map((name) => {
    const isOffered = kind === 'operator' || OF_CLIENTS.has(name)
    return [name, isOffered ? (query.get(name) ?? '').trim() : '']
  })
  return Object.fromEntries(entries) as unknown as Filter
}

/** The query of an address, in a fixed order: the same view has the same address. */
export function toQuery(filter: Filter, more: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams()
  for (const name of MEMBERS) {
    if (filter[name] !== '') query.set(name, filter[name])
  }
  for (const [name, value] of Object.entries(more)) {
    if (value !== '') query.set(name, value)
  }
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}

export function isEmpty(filter: Filter): boolean {
  return MEMBERS.every((name) => filter[name] === '')
}

/** As the API takes it: members that are set, and instants instead of periods. */
export function toApiFilter(filter: Filter, nowMs: number): Record<string, string> {
  const { last, ...written } = filter
  const period = isRecentPeriod(last) ? RECENT_PERIODS[last] : null
  const set = Object.entries({
    ...written,
    from: period === null ? toInstant(written.from) : new Date(nowMs - period.ms).toISOString(),
    to: period === null ? toInstant(written.to) : '',
  })
  return Object.fromEntries(set.filter(([, value]) => value !== ''))
}

/** The same for a question that is counted and then confirmed: what is made in between is not in it. */
export function toAskedFilter(filter: Filter, nowMs: number): Record<string, string> {
  const applied = toApiFilter(filter, nowMs)
  const to = applied.to ?? endOfAsking(applied.from, nowMs)
  return to === undefined ? applied : { ...applied, to }
}

export function isRecentPeriod(text: string): text is RecentPeriod {
  return Object.hasOwn(RECENT_PERIODS, text)
}

/** `2026-11-15T06:30`, as a field gives it, is in the viewer's zone. What is no time stays as it is. */
export function toInstant(text: string): string {
  const ms = parseInZone(text)
  return text === '' || Number.isNaN(ms) ? text : new Date(ms).toISOString()
}

/** As people read it, instants in the zone that they chose. */
export function toFilterText(filter: Filter, name: keyof Filter): string {
  const value = filter[name]
  if (name === 'last') return isRecentPeriod(value) ? RECENT_PERIODS[value].label : value
  if (name === 'state') return value.replaceAll(',', ', ')
  if (name !== 'from' && name !== 'to') return value
  const ms = Date.parse(value)
  return Number.isNaN(ms) ? value : toZoneText(new Date(ms), 'full')
}

export function statesOf(filter: Filter): readonly string[] {
  return filter.state === '' ? [] : filter.state.split(',')
}

/** The state switched on or off. All of them is the same as none: no filter. */
export function toggleState(filter: Filter, state: string): Filter {
  const on = new Set(statesOf(filter))
  if (!on.delete(state)) on.add(state)
  const states = DELIVERY_STATES.filter((one) => on.has(one))
  return { ...filter, state: states.length === DELIVERY_STATES.length ? '' : states.join(',') }
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function isUuid(text: string): boolean {
  return UUID.test(text.trim())
}
