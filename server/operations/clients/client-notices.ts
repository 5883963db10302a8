// A client's address for notices about its own endpoints: one, given again and again, signed with a key of its own. What
// was sent there is shown here and in no list.

import type { DeliveryState } from '../../core/delivery/delivery.ts'
import { type Db, inTransaction } from '../../store/connection/db.ts'
import {
  findInternalClient,
  findNoticeEndpoint,
  type NoticeEndpoint,
} from '../../store/endpoints/internal-endpoints.ts'
import { beginClientNotices, lockNotices } from '../../store/endpoints/notices.ts'
import { readDeliverySlice } from '../../store/history/delivery-lists.ts'
import { readPayloads } from '../../store/history/events.ts'
import { EVERY_DELIVERY } from '../../store/sql/delivery-query.ts'
import { assertStays } from '../access/move-checks.ts'
import type { Caller } from '../access/verify-token.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound } from '../shared/service-errors.ts'
import { deleteNoticeEndpoint, saveNoticeEndpoint } from './save-notice-endpoint.ts'

export interface SentNotice {
  state: DeliveryState
  attempts: number
  /** The body as it is sent. */
  text: string
}

export interface ClientNotices {
  endpoint: NoticeEndpoint
  /** The newest first. */
  recent: readonly SentNotice[]
}

const RECENT_MAX = 20

export async function putClientNotices(
  deps: Deps,
  { clientKey, clientId }: Caller,
  to: { url: string; key: string },
): Promise<ClientNotices> {
  const changed = await alone(deps, clientKey, async (db, now) => {
    // The address is a row of Paybell's own client, which no fence of this one keeps.
    await assertStays(db, clientKey)
    const saved = await saveNoticeEndpoint(deps, db, clientId, { ...to, now })
    if (saved.isNew) await beginClientNotices(db, clientKey, now)
    return saved.changed
  })
  if (changed !== null) deps.engine.endpointChanged(changed.clientKey, changed.id, changed.shard)
  return viewClientNotices(deps, clientId)
}

export async function viewClientNotices(deps: Deps, clientId: string): Promise<ClientNotices> {
  const clientKey = await findInternalClient(deps.pool)
  const endpoint =
    clientKey === null ? null : await findNoticeEndpoint(deps.pool, clientKey, clientId)
  if (endpoint === null) throw notFound()
  return { endpoint, recent: await readRecent(deps, endpoint) }
}

export async function deleteClientNotices(
  deps: Deps,
  { clientKey, clientId }: Caller,
): Promise<void> {
  const deleted = await alone(deps, clientKey, async (db, now) => {
    await assertStays(db, clientKey)
    return deleteNoticeEndpoint(db, clientId, now)
  })
  if (deleted === null) throw notFound()
  deps.engine.endpointChanged(deleted.clientKey, deleted.id, deleted.shard)
}

/** One change of all clients' addresses at a time, and each client's in its own line before that. */
function alone<T>(
  deps: Deps,
  clientKey: number,
  run: (db: Db, now: Date) => Promise<T>,
): Promise<T> {
  const transact = () =>
    inTransaction(deps.pool, async (db) => {
      await lockNotices(db)
      return run(db, new Date(deps.clock.nowMs()))
    })
  return deps.endpointChanges.run(clientKey, () => deps.endpointChanges.run('notices', transact))
}

async function readRecent(
  deps: Deps,
  { clientKey, id: endpointId }: NoticeEndpoint,
): Promise<readonly SentNotice[]> {
  const { items } = await readDeliverySlice(
    deps.pool,
    { ...EVERY_DELIVERY, clientKey, endpointId },
    { beforeId: null, limit: RECENT_MAX, chunk: 1_000 },
  )
  const payloads = await readPayloads(deps.pool, items)
  return items.flatMap(({ eventId, state, attempts }) => {
    const payload = payloads.get(eventId)
    return payload === undefined ? [] : [{ state, attempts, text: payload.text }]
  })
}
