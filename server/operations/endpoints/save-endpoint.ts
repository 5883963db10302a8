// Saves an endpoint of any kind: the same address again is the same endpoint with a new key, never a copy.
// The client's row is locked, so that a burst makes no duplicate and exceeds no limit.

import { timingSafeEqual } from 'node:crypto'
import { type EndpointKind, hashHref, shardOf } from '../../core/delivery/endpoint.ts'
import { changeSettings, type SettingsChange } from '../../core/delivery/endpoint-settings.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import { type Db, inTransaction } from '../../store/connection/db.ts'
import {
  findByAddress,
  insertEndpoint,
  lockEndpoint,
  replaceHeader,
  replaceKey,
  replaceSettings,
  type SameAddress,
  type SealedHeader,
} from '../../store/endpoints/endpoints.ts'
import { lockClient } from '../../store/secrets/clients.ts'
import type { Sealer } from '../../store/secrets/sealing.ts'
import type { Deps } from '../shared/deps.ts'
import { assertHeadersApart } from '../shared/headers-apart.ts'
import { assertTokenCertificate, checkTls, holdNamed } from './check-tls.ts'
import { sealOauth2 } from './seal-oauth2.ts'

export interface EndpointRequest {
  clientKey: number
  kind: EndpointKind
  /** Null for a subscription. */
  accountId: string | null
  /** The text as it was given, and what it parses to. */
  url: string
  href: string
  sharedKey: string
  header: { name: string; value: string } | null
  /** What is not given stays as it is, or is the default for a new endpoint. */
  settings?: SettingsChange
  /** Called in the same transaction when the endpoint is new. */
  onInsert?(db: Db, id: string, now: Date): Promise<void>
}

/** Returns the endpoint's id, which is the old one if the address was registered already. */
export async function saveEndpoint(deps: Deps, request: EndpointRequest): Promise<string> {
  const saved = await deps.endpointChanges.run(request.clientKey, () =>
    saveInTransaction(deps, request),
  )
  deps.engine.endpointChanged(request.clientKey, saved.id, saved.shard)
  return saved.id
}

interface Saved {
  id: string
  shard: number
}

async function saveInTransaction(deps: Deps, request: EndpointRequest): Promise<Saved> {
  const hrefHash = hashHref(request.href)
  const before = await findByAddress(deps.pool, request, hrefHash)
  // Most requests of a flood end here, without a transaction and its lock.
  if (before.existing === null && before.count >= deps.config.endpointsMax) {
    throw tooMany(deps, request.kind)
  }
  const now = new Date(deps.clock.nowMs())
  return inTransaction(deps.pool, async (db) => {
    await holdNamed(db, request.settings ?? {})
    await lockClient(db, request.clientKey)
    const { existing, count } = await lockByAddress(db, request, hrefHash)
    const id = existing?.id ?? deps.newId()
    const before = {
      ...{ id, clientKey: request.clientKey, url: request.href },
      settings: existing?.settings ?? null,
    }
    const change = await checkTls(deps, db, request.settings ?? {}, before)
    const settings = changeSettings(before.settings, sealOauth2(deps.sealer, before, change))
    assertHeadersApart(settings, request.header?.name ?? null)
    assertTokenCertificate(settings)
    if (existing !== null) {
      await rotateKey(deps, db, { request, existing, now })
      const header = sealHeader(deps.sealer, request, existing.id)
      await replaceHeader(db, request.clientKey, existing.id, header, now)
      if (settings !== null && settings !== existing.settings) {
        await replaceSettings(db, request.clientKey, existing.id, settings, now)
      }
      return existing
    }
    if (count >= deps.config.endpointsMax) throw tooMany(deps, request.kind)
    const endpoint = { id, shard: shardOf(id) }
    const sealedKey = sealKey(deps.sealer, 'shared_key', id, Buffer.from(request.sharedKey))
    const header = sealHeader(deps.sealer, request, id)
    await insertEndpoint(
      db,
      { ...request, ...endpoint, hrefHash, sealedKey, header, settings },
      now,
    )
    await request.onInsert?.(db, id, now)
    return endpoint
  })
}

/**
 * What is there, with its settings as they stay until the transaction ends: a PATCH, in any process, comes before or
 * after. The client's row is locked, which keeps other registrations out but no PATCH.
 */
async function lockByAddress(
  db: Db,
  request: EndpointRequest,
  hrefHash: Buffer,
): ReturnType<typeof findByAddress> {
  const { existing, count } = await findByAddress(db, request, hrefHash)
  if (existing === null) return { existing, count }
  const locked = await lockEndpoint(db, request, existing.id)
  // Deleted while we waited for its row.
  if (locked === null) return findByAddress(db, request, hrefHash)
  return { existing: { ...existing, settings: locked.endpoint.settings }, count }
}

/** The same key again changes nothing, so that a current overlap goes on. */
async function rotateKey(
  deps: Deps,
  db: Db,
  to: { request: EndpointRequest; existing: SameAddress; now: Date },
): Promise<void> {
  const { request, existing, now } = to
  const key = Buffer.from(request.sharedKey)
  const old = openKey(deps.sealer, existing)
  if (old !== null && old.length === key.length && timingSafeEqual(old, key)) return
  const sealedKey = sealKey(deps.sealer, 'shared_key', existing.id, key)
  const sealedPreviousKey = old && sealKey(deps.sealer, 'previous_key', existing.id, old)
  const { keyOverlapMs } = deps.policies
  const previousKeyUntil = old && new Date(now.getTime() + keyOverlapMs)
  const keys = { sealedKey, sealedPreviousKey, previousKeyUntil }
  await replaceKey(db, request.clientKey, existing.id, keys, now)
}

/** Null when the stored key is damaged: then the new one replaces it without an overlap. */
function openKey(sealer: Sealer, existing: { id: string; sealedKey: Buffer }): Buffer | null {
  try {
    return sealer.open(existing.sealedKey, { column: 'endpoints.shared_key', row: existing.id })
  } catch {
    return null
  }
}

function sealKey(
  sealer: Sealer,
  column: 'shared_key' | 'previous_key' | 'header_value',
  endpointId: string,
  secret: Buffer,
): Buffer {
  return sealer.seal(secret, { column: `endpoints.${column}`, row: endpointId })
}

function sealHeader(
  sealer: Sealer,
  { header }: EndpointRequest,
  endpointId: string,
): SealedHeader | null {
  if (header === null) return null
  const sealedValue = sealKey(sealer, 'header_value', endpointId, Buffer.from(header.value))
  return { name: header.name, sealedValue }
}

function tooMany(deps: Deps, kind: EndpointKind): ServiceError {
  const limit = deps.config.endpointsMax
  const detail =
    kind !== 'subscription'
      ? `The account already has ${limit} webhooks, listeners included. Delete one first.`
      : `The client already has ${limit} subscriptions. Delete one first.`
  return new ServiceError('too-many-endpoints', detail)
}
