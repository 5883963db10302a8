// Where notices go, the operator's and those of clients: made, moved, given a key, enabled again if it was disabled, or
// deleted. All processes agree under one lock.

import { hashHref, shardOf } from '../../core/delivery/endpoint.ts'
import type { Db } from '../../store/connection/db.ts'
import {
  markDeleted,
  replaceAddress,
  replaceKey,
  saveStatus,
} from '../../store/endpoints/endpoints.ts'
import {
  ensureInternalClient,
  findInternalClient,
  findNoticeEndpoint,
  forgetNoticeEndpoint,
  insertNoticeEndpoint,
  type NoticeEndpoint,
  type StoredNoticeEndpoint,
} from '../../store/endpoints/internal-endpoints.ts'
import { beginCounting } from '../../store/endpoints/notices.ts'
import { releaseDeliveriesOf } from '../../store/owed/deliveries.ts'
import {
  cancelOwedAfter,
  type EndpointKey,
  FIRST_OWED,
  type OwedPosition,
} from '../../store/removal/deleted-endpoints.ts'
import { sealedFor } from '../../store/secrets/endpoint-secrets.ts'
import { holdSealing } from '../sealing/bind-addresses.ts'
import type { Deps } from '../shared/deps.ts'

/** The same in every installation, so that an operator does not take it for one of its own clients. */
const INTERNAL_CLIENT = { id: '00000000-0000-7000-8000-000000000001', name: 'Paybell notices' }

/** Paybell's own client, and the client that the notices are for; null: the operator. */
interface NoticeOwner {
  clientKey: number
  clientId: string | null
}

interface NoticeAddress {
  url: string
  key: string
  now: Date
}

export type NoticeLane = Pick<NoticeEndpoint, 'clientKey' | 'id' | 'shard'>

export interface SavedNotices {
  isNew: boolean
  /** To be announced to the engine; null when nothing has changed. */
  changed: NoticeLane | null
}

/** In a transaction that holds the lock of notices. */
export async function saveNoticeEndpoint(
  deps: Deps,
  db: Db,
  clientId: string | null,
  to: NoticeAddress,
): Promise<SavedNotices> {
  await holdSealing(db, deps.sealer)
  const clientKey = await ensureInternalClient(db, INTERNAL_CLIENT, to.now)
  const stored = await findNoticeEndpoint(db, clientKey, clientId)
  return stored === null
    ? { isNew: true, changed: await make(deps, db, { clientKey, clientId }, to) }
    : { isNew: false, changed: await bringInLine(deps, db, stored, to) }
}

/** Null when there is none. In a transaction that holds the lock of notices. */
export async function deleteNoticeEndpoint(
  db: Db,
  clientId: string | null,
  now: Date,
): Promise<NoticeLane | null> {
  const clientKey = await findInternalClient(db)
  const stored = clientKey === null ? null : await findNoticeEndpoint(db, clientKey, clientId)
  if (stored === null) return null
  await markDeleted(db, stored.clientKey, stored.id, now)
  await cancelNotices(db, { clientKey: stored.clientKey, endpointId: stored.id }, now)
  return stored
}

/** All in the transaction of the caller: notices are few. */
async function cancelNotices(db: Db, endpoint: EndpointKey, now: Date): Promise<void> {
  let position: OwedPosition | null = FIRST_OWED
  while (position !== null) {
    position = await cancelOwedAfter(db, endpoint, position, now, { isWaiting: true })
  }
}

/**
 * A client moves to another cell: so does its address, with its key as it is sealed. One that was there before is
 * brought in line, or goes. In a transaction of the target that holds the lock of notices.
 */
export async function carryNoticeEndpoint(
  source: Db,
  target: Db,
  clientId: string,
  now: Date,
): Promise<void> {
  const left = await findInternalClient(source)
  const stored = left === null ? null : await findNoticeEndpoint(source, left, clientId)
  const stale = await deleteNoticeEndpoint(target, clientId, now)
  if (stored === null) return
  const clientKey = await ensureInternalClient(target, INTERNAL_CLIENT, now)
  if (stale?.id === stored.id) await forgetNoticeEndpoint(target, clientKey, stored.id)
  const hrefHash = hashHref(new URL(stored.url).href)
  await insertNoticeEndpoint(target, { ...stored, clientKey, hrefHash }, now)
  await beginCounting(target, now)
}

async function make(
  deps: Deps,
  db: Db,
  { clientKey, clientId }: NoticeOwner,
  to: NoticeAddress,
): Promise<NoticeLane> {
  const id = deps.newId()
  const made = { clientKey, id, shard: shardOf(id) }
  const sealedKey = deps.sealer.seal(
    Buffer.from(to.key),
    sealedFor('shared_key', { id, url: to.url }),
  )
  const hrefHash = hashHref(new URL(to.url).href)
  await insertNoticeEndpoint(db, { ...made, clientId, url: to.url, hrefHash, sealedKey }, to.now)
  return made
}

async function bringInLine(
  deps: Deps,
  db: Db,
  stored: StoredNoticeEndpoint,
  to: NoticeAddress,
): Promise<NoticeLane | null> {
  const { clientKey, id } = stored
  const isMoved = stored.url !== to.url
  if (isMoved) {
    const hrefHash = hashHref(new URL(to.url).href)
    await replaceAddress(db, { clientKey, id, url: to.url, hrefHash }, to.now)
  }
  const isRekeyed = await bringKeyInLine(deps, db, stored, to)
  // An operator who restarts Paybell, and a client that gives its address again, wants its notices.
  const isWoken = stored.status !== 'ACTIVE'
  if (isWoken) {
    await saveStatus(db, clientKey, id, { status: 'ACTIVE', inactiveSince: null }, to.now)
    await releaseDeliveriesOf(db, clientKey, id, stored.inactiveSince ?? to.now, to.now)
  }
  return isMoved || isRekeyed || isWoken ? stored : null
}

/**
 * True when the key has changed: for a day the old one signs too, as for any endpoint. At another address both are sealed
 * for that one.
 */
async function bringKeyInLine(
  deps: Deps,
  db: Db,
  stored: StoredNoticeEndpoint,
  to: NoticeAddress,
): Promise<boolean> {
  const { clientKey, id, url, sealedKey, sealedPreviousKey } = stored
  const key = Buffer.from(to.key)
  const old = openKey(deps, 'shared_key', stored, sealedKey)
  const isSame = old?.equals(key) === true
  const former = sealedPreviousKey && openKey(deps, 'previous_key', stored, sealedPreviousKey)
  const isWhole = (sealedPreviousKey === null) === (former === null)
  if (isSame && url === to.url && isWhole) return false
  const previous = isSame ? former : old
  const until = isSame
    ? stored.previousKeyUntil
    : new Date(to.now.getTime() + deps.policies.keyOverlapMs)
  const there = { id, url: to.url }
  const keys = {
    sealedKey: deps.sealer.seal(key, sealedFor('shared_key', there)),
    sealedPreviousKey: previous && deps.sealer.seal(previous, sealedFor('previous_key', there)),
    previousKeyUntil: previous && until,
  }
  await replaceKey(db, clientKey, id, keys, to.now)
  return true
}

/** Null when its master key is no longer configured, or its address was changed by another hand: the key is given anyway. */
function openKey(
  deps: Deps,
  column: 'shared_key' | 'previous_key',
  stored: NoticeEndpoint,
  sealed: Buffer,
): Buffer | null {
  try {
    return deps.sealer.open(sealed, sealedFor(column, stored))
  } catch {
    return null
  }
}
