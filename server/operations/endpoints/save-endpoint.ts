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
  replaceAddress,
  replaceHeader,
  replaceKey,
  replaceSettings,
  type SameAddress,
  type SealedHeader,
} from '../../store/endpoints/endpoints.ts'
import { lockClient } from '../../store/secrets/clients.ts'
import { sealedFor } from '../../store/secrets/endpoint-secrets.ts'
import { isBound, type Sealer } from '../../store/secrets/sealing.ts'
import { holdSealing } from '../sealing/bind-addresses.ts'
import type { Deps } from '../shared/deps.ts'
import { assertHeadersApart } from '../shared/headers-apart.ts'
import { assertTokenCertificate, checkTls, holdNamed } from './check-tls.ts'
import { bindOauth2, sealOauth2 } from './seal-oauth2.ts'

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
    await holdSealing(db, deps.sealer)
    await lockClient(db, request.clientKey)
    const { existing, count } = await lockByAddress(db, request, hrefHash)
    const id = existing?.id ?? deps.newId()
    const url = existing === null ? request.url : addressOf(existing, request)
    const before = {
      ...{ id, clientKey: request.clientKey, url: request.href },
      settings: existing === null ? null : settingsOf(deps.sealer, existing),
    }
    const change = await checkTls(deps, db, request.settings ?? {}, before)
    const settings = changeSettings(before.settings, sealOauth2(deps.sealer, before, change))
    assertHeadersApart(settings, request.header?.name ?? null)
    assertTokenCertificate(settings)
    if (existing !== null) {
      if (url !== existing.url) {
        await replaceAddress(db, { clientKey: request.clientKey, id, url, hrefHash }, now)
      }
      await rotateKey(deps, db, { request, existing: { ...existing, url }, now })
      const header = sealHeader(deps.sealer, request, { id, url })
      await replaceHeader(db, request.clientKey, existing.id, header, now)
      if (settings !== null && settings !== existing.settings) {
        await replaceSettings(db, request.clientKey, existing.id, settings, now)
      }
      return existing
    }
    if (count >= deps.config.endpointsMax) throw tooMany(deps, request.kind)
    const endpoint = { id, shard: shardOf(id) }
    const place = { id, url }
    const sealedKey = sealKey(deps.sealer, 'shared_key', place, Buffer.from(request.sharedKey))
    const header = sealHeader(deps.sealer, request, place)
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
  await lockEndpoint(db, request, existing.id)
  // Its secrets may have been sealed in another form while we waited for its row, or the endpoint was deleted.
  return findByAddress(db, request, hrefHash)
}

/** The address as it was first given; the one given now where the stored one is another, which no hand of ours has made. */
function addressOf(existing: SameAddress, { url, href }: EndpointRequest): string {
  return URL.parse(existing.url)?.href === href ? existing.url : url
}

/** A row whose key is not bound yet is bound as a whole. */
function settingsOf(sealer: Sealer, { id, sealedKey, settings }: SameAddress) {
  return settings === null || isBound(sealedKey) ? settings : bindOauth2(sealer, id, settings)
}

/** The same key again changes nothing, so that a current overlap goes on: unless something of it does not open. */
async function rotateKey(
  deps: Deps,
  db: Db,
  to: { request: EndpointRequest; existing: SameAddress; now: Date },
): Promise<void> {
  const { request, existing, now } = to
  const key = Buffer.from(request.sharedKey)
  const old = openKey(deps.sealer, existing, 'shared_key', existing.sealedKey)
  const isSame = old !== null && old.length === key.length && timingSafeEqual(old, key)
  if (isSame && isWhole(deps.sealer, existing)) return
  const sealedKey = sealKey(deps.sealer, 'shared_key', existing, key)
  const kept = isSame ? null : old
  const sealedPreviousKey = kept && sealKey(deps.sealer, 'previous_key', existing, kept)
  const { keyOverlapMs } = deps.policies
  const previousKeyUntil = kept && new Date(now.getTime() + keyOverlapMs)
  const keys = { sealedKey, sealedPreviousKey, previousKeyUntil }
  await replaceKey(db, request.clientKey, existing.id, keys, now)
}

function isWhole(sealer: Sealer, existing: SameAddress): boolean {
  const { sealedPreviousKey: previous } = existing
  return previous === null || openKey(sealer, existing, 'previous_key', previous) !== null
}

/** Null when the stored key is damaged, or was for another address: then the new one replaces it without an overlap. */
function openKey(
  sealer: Sealer,
  existing: SameAddress,
  column: 'shared_key' | 'previous_key',
  sealed: Buffer,
): Buffer | null {
  try {
    return sealer.open(sealed, sealedFor(column, existing))
  } catch {
    return null
  }
}

function sealKey(
  sealer: Sealer,
  column: 'shared_key' | 'previous_key' | 'header_value',
  place: { id: string; url: string },
  secret: Buffer,
): Buffer {
  return sealer.seal(secret, sealedFor(column, place))
}

function sealHeader(
  sealer: Sealer,
  { header }: EndpointRequest,
  place: { id: string; url: string },
): SealedHeader | null {
  if (header === null) return null
  const sealedValue = sealKey(sealer, 'header_value', place, Buffer.from(header.value))
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
