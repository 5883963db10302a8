// An endpoint: an address that Paybell delivers to, made through one of two doors.
//   ACTIVE ─▶ PAUSED     by its owner            PAUSED   ─▶ ACTIVE   by its owner
//   ACTIVE ─▶ DISABLED   by the service, after 7 days of nothing but failures
//   DISABLED ─▶ ACTIVE   by its owner or the operator
// A paused or disabled endpoint loses nothing: what it is owed waits.

import { createHash } from 'node:crypto'
import type { EndpointSettings } from './endpoint-settings.ts'
import { SHARD_COUNT } from './lease.ts'

export const ENDPOINT_STATUSES = ['ACTIVE', 'PAUSED', 'DISABLED'] as const
export type EndpointStatus = (typeof ENDPOINT_STATUSES)[number]

/** What an owner may set; only the service disables. */
export const OWNER_STATUSES = ['ACTIVE', 'PAUSED'] as const
export type OwnerStatus = (typeof OWNER_STATUSES)[number]

/** The door it came through: all payments of a client, those of one account, or those to be fetched. */
export type EndpointKind = 'subscription' | 'webhook' | 'listener'

export interface Endpoint {
  id: string
  kind: EndpointKind
  /** Null for a subscription: it hears of every account. */
  accountId: string | null
  /** The text first given. */
  url: string
  status: EndpointStatus
  createdAt: Date
  /** Null: none was ever given. */
  settings: EndpointSettings | null
}

/** The name that lists give to the algorithm of the signature. */
export const HMAC_ALGORITHM = 'SHA_256' as const

/** After a rotation the old key signs beside the new one for this long (decisions, Callbacks §4). */
export const KEY_OVERLAP_MS = 24 * 3_600_000

/** Which share of the endpoints this one belongs to: the same in every process, for ever. */
export function shardOf(endpointId: string): number {
  return (
    createHash('sha256').update(endpointId.toLowerCase()).digest().readUInt32BE(0) % SHARD_COUNT
  )
}

/** "The same address" means the same parsed href; it is compared and indexed by its hash. */
export function hashHref(href: string): Buffer {
  return createHash('sha256').update(href).digest()
}
