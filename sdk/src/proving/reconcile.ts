// Holds what a receiver has against Paybell's signed statement: first the whole window, then the hours that differ, then
// the ids of those hours. So a month in which nothing is missing costs one call. Only what is signed says what is
// complete; the lists of deliveries, which are not, only name the ids.

import type { Client } from '../calling/client.ts'
import type { CallOptions } from '../calling/transport.ts'
import { PaybellError } from '../plain/errors.ts'
import {
  addDigests,
  hourOf,
  isWithin,
  type ReceivedHour,
  type ReceivedStore,
  type Window,
} from '../plain/ids-digest.ts'
import type { Delivery, Statement, StatementHour } from '../wire/types.ts'
import type { KeySet } from './signed.ts'
import { readStatement, type SignedStatement } from './statement-check.ts'

export interface ReconcileOptions extends CallOptions {
  client: Pick<Client, 'webhooks' | 'subscriptions' | 'listeners' | 'deliveries' | 'call'>
  endpointId: string
  /**
   * The keys that you trust: a `/.well-known/webhook-keys.json` that you saved. Without them those are taken that the
   * service publishes now, so that it vouches for itself.
   */
  keys?: KeySet | undefined
  /** Which kind of endpoint: `webhooks` by default. */
  kind?: 'webhooks' | 'subscriptions' | 'listeners' | undefined
  /** Send again what is missing, and what was exhausted. */
  recover?: boolean | undefined
}

/** The ids (`webhook-id`) of an hour in which the two sides differ. */
export interface HourDifference {
  from: string
  /** Delivered, and the receiver does not have it. */
  missing: readonly string[]
  /** The receiver has it, and Paybell got no 200 for it. */
  unconfirmed: readonly string[]
  /** The receiver has it, and Paybell never had it for this endpoint. */
  unknown: readonly string[]
  /** The receiver has counted it more than once. */
  doubled: readonly string[]
}

export interface Reconciliation {
  /** Both sides have the same, and everything that was owed was delivered, or superseded by a newer update that was. */
  isComplete: boolean
  /** False while something in the window can still change: ask again later. */
  isFinal: boolean
  /** What is signed, with the signature: keep `jws`, and the keys. */
  statement: Statement
  /** What was owed and not delivered. Nothing is complete while there is any. */
  undelivered: { cancelled: number; exhausted: number; pending: number }
  /** False: no keys were given, and the service's own were believed. */
  areKeysPinned: boolean
  /** Only hours that differ. */
  differences: readonly HourDifference[]
  /** How many deliveries are sent again. */
  recovered: number
}

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const KEYS_PATH = '/.well-known/webhook-keys.json'

/**
 * Compares what a store has received with what Paybell delivered, lists the ids that differ and, if asked, has them
 * sent again. Rejects with the code `not-genuine` when no trusted key has signed the statement, `statement-invalid`
 * when it is not what was asked for or does not add up, and `ids-forgotten` where hours differ of which the store no
 * longer lists every id.
 *
 * ```js
 * import { createClient, createMemorySeen, reconcile } from '@paybell/sdk'
 *
 * const seen = createMemorySeen() // the store of your receiver
 * const client = createClient({
 *   baseUrl: 'https://paybell.example.com',
 *   clientId: '019a8f6e-1c2d-7a3b-8c4d-5e6f70819203',
 *   clientSecret: 'pbs_the-secret-from-onboarding',
 * })
 * const window = { from: '2026-03-01T00:00:00Z', to: '2026-03-02T00:00:00Z' }
 * const endpointId = '019cade2-1350-7af3-913d-2f16aae956b4'
 * const { isComplete, differences } = await reconcile(seen, window, { client, endpointId })
 * console.log(isComplete, differences)
 * ```
 */
export async function reconcile(
  store: ReceivedStore,
  window: Window,
  options: ReconcileOptions,
): Promise<Reconciliation> {
  const { client, endpointId, kind = 'webhooks', recover = false, keys, ...details } = options
  const { jws } = await client[kind].statement(endpointId, window, details)
  // The client may be set to one account; a subscription has events of all of them.
  const ofAll = { ...details, accountId: null }
  const trusted = keys ?? (await client.call<KeySet>('GET', KEYS_PATH, ofAll))
  const statement = await readStatement(jws, trusted, { endpointId, window })
  const differences: HourDifference[] = []
  const missing: Delivery[] = []
  for (const { from, received } of differing(statement, await hoursOf(store, window))) {
    const of = { from, to: new Date(Date.parse(from) + HOUR_MS).toISOString() }
    const ids = await store.ids(of)
    if (ids.length < received) throw forgotten(from, received, ids.length)
    const deliveries = await deliveriesOf(client, endpointId, of, ofAll)
    const difference = compareHour(from, deliveries, ids)
    differences.push(difference)
    const lacks = new Set(difference.missing)
    // Hours come oldest first, the deliveries of one newest first.
    for (const delivery of deliveries.reverse()) {
      if (lacks.has(delivery.eventId)) missing.push(delivery)
    }
  }
  const { isFinal, cancelled, exhausted, pending, owed, delivered, superseded } = statement
  let recovered = 0
  if (recover) {
    // As they happened: a receiver that gets a newer update of a payment first drops the older ones.
    for (const { id } of missing) {
      await client.deliveries.replay(id, ofAll)
      recovered++
    }
    if (exhausted > 0) {
      const period = { since: window.from, until: window.to }
      recovered += (await client[kind].recover(endpointId, period, details)).replayed
    }
  }
  return {
    isComplete: differences.length === 0 && owed === delivered + superseded,
    isFinal,
    statement: { ...statement, jws },
    undelivered: { cancelled, exhausted, pending },
    areKeysPinned: keys !== undefined,
    differences,
    recovered,
  }
}

/** A store may list more than it was asked for: what lies outside would be in the sum and in no hour. */
async function hoursOf(store: ReceivedStore, window: Window): Promise<readonly ReceivedHour[]> {
  return (await store.hours(window)).filter(({ from }) => isWithin(from, window))
}

/** Ids that were forgotten would look missing, and be sent again. */
function forgotten(from: string, received: number, listed: number): PaybellError {
  return new PaybellError(
    `The store has counted ${received} ids of the hour from ${from} and lists ${listed}: which ones are missing cannot be told. Let it keep more of them.`,
    { code: 'ids-forgotten' },
  )
}

/** The whole first: where that is the same, so is every hour. With how many the store has counted. */
function differing(
  statement: SignedStatement,
  received: readonly ReceivedHour[],
): readonly { from: string; received: number }[] {
  const none = '0'.repeat(64)
  const count = received.reduce((sum, hour) => sum + hour.received, 0)
  const digest = received.reduce((sum, hour) => addDigests(sum, hour.idsDigest), none)
  if (count === statement.delivered && digest === statement.idsDigest) return []
  const own = new Map(received.map((hour) => [new Date(hour.from).toISOString(), hour]))
  return statement.hours.flatMap(({ from, delivered, idsDigest }: StatementHour) => {
    const hour = own.get(from) ?? { received: 0, idsDigest: none }
    const isSame = hour.received === delivered && hour.idsDigest === idsDigest
    return isSame ? [] : [{ from, received: hour.received }]
  })
}

/** A delivery is created a moment after the id of its event was made. */
async function deliveriesOf(
  client: ReconcileOptions['client'],
  endpointId: string,
  hour: { from: string; to: string },
  details: CallOptions,
): Promise<Delivery[]> {
  const to = new Date(Date.parse(hour.to) + MINUTE_MS)
  const found: Delivery[] = []
  const query = { endpointId, from: hour.from, to, limit: 200 }
  for await (const delivery of client.deliveries.all(query, details)) {
    if (hourOf(delivery.eventId) === hour.from) found.push(delivery)
  }
  return found
}

function compareHour(
  from: string,
  deliveries: readonly Delivery[],
  received: readonly string[],
): HourDifference {
  const delivered = new Set<string>()
  const others = new Set<string>()
  for (const { eventId, state } of deliveries) {
    if (state === 'DELIVERED') delivered.add(eventId)
    else others.add(eventId)
  }
  const own = new Set<string>()
  const doubled = new Set<string>()
  for (const id of received) (own.has(id) ? doubled : own).add(id)
  return {
    from,
    missing: [...delivered].filter((id) => !own.has(id)),
    unconfirmed: [...own].filter((id) => others.has(id)),
    unknown: [...own].filter((id) => !delivered.has(id) && !others.has(id)),
    doubled: [...doubled],
  }
}
