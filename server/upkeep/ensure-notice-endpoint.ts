// Brings the endpoint for notices to the operator in line with the settings, at start.

import {
  deleteNoticeEndpoint,
  saveNoticeEndpoint,
} from '../operations/clients/save-notice-endpoint.ts'
import type { Deps } from '../operations/shared/deps.ts'
import { inTransaction } from '../store/connection/db.ts'
import { beginNotices, lockNotices } from '../store/endpoints/notices.ts'

export async function ensureNoticeEndpoint(deps: Deps): Promise<void> {
  const { noticeUrl: url, noticeKey: key } = deps.config
  const now = new Date(deps.clock.nowMs())
  const changed = await inTransaction(deps.pool, async (db) => {
    await lockNotices(db)
    if (url === null || key === null) return deleteNoticeEndpoint(db, null, now)
    const saved = await saveNoticeEndpoint(deps, db, null, { url, key, now })
    if (saved.isNew) await beginNotices(db, now)
    return saved.changed
  })
  if (changed !== null) deps.engine.endpointChanged(changed.clientKey, changed.id, changed.shard)
}
