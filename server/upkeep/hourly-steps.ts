// The hourly steps of upkeep, made once for all rounds: one that was cut off goes on where it was. None depends on one
// before it, so each may fail alone.

import type { Logger } from 'pino'
import { DAY_MS } from '../core/delivery/backoff.ts'
import { TOKEN_KEYS } from '../operations/access/key-purposes.ts'
import { rotateSigningKeyIfOld } from '../operations/access/keyring.ts'
import { tendWebhookKeys } from '../operations/access/webhook-keys.ts'
import { tendBinding } from '../operations/sealing/tend-binding.ts'
import type { Deps } from '../operations/shared/deps.ts'
import { inTransaction } from '../store/connection/db.ts'
import { deleteOldSteps } from '../store/history/stats.ts'
import { deleteOldDocumentLinks } from '../store/payments/document-links.ts'
import { deleteOldEventTraces } from '../store/payments/event-traces.ts'
import { deleteOldMarks, markFeed } from '../store/proofs/feed-marks.ts'
import { deleteOldStatementHours } from '../store/proofs/statement-hours.ts'
import { vacuumClosedDays, watchClosedDays } from '../store/removal/closed-days.ts'
import {
  type DocumentPosition,
  deleteOldHours,
  dropOldHistory,
} from '../store/removal/retention.ts'
import { indexPlaces } from '../store/schema/audit-indexes.ts'
import { carryFeedOver } from '../store/schema/feed-origin.ts'
import { ensurePartitions } from '../store/schema/partitions.ts'
import { deleteOldAssertions } from '../store/secrets/client-keys.ts'
import { forgetAudit } from './forget-audit.ts'
import { forgetDocuments, forgetPayments } from './forget-old.ts'
import { tendDeleted } from './tend-deleted.ts'
import { deleteForgottenListeners } from './tend-listeners.ts'

const SIGNING_KEY_AGE_MS_MAX = 30 * DAY_MS
/** After the events themselves: what is owed is kept for a run longer. */
const DOCUMENT_LINKS_KEPT_DAYS_MORE = 8
const DOCUMENT_LINKS_AT_ONCE = 10_000

export interface HourlyStep {
  name: string
  /** Resolves with `left` if something has to be tried again soon; anything else means done. */
  work(): Promise<unknown>
}

/** Those that are needed by whatever clock. All others delete for good what is old. */
const NEEDED = new Set([
  'partitions',
  'feed',
  'closed-days',
  'audit-index',
  'signing-keys',
  'webhook-keys',
  'sealing',
  'deleted-endpoints',
])

export interface StepParts {
  logger: Logger
  /** That of this process. */
  version: string
}

/** What forgets waits while the clock has just jumped ahead: setting it right would bring nothing back. */
export function hourlySteps(deps: Deps, parts: StepParts): readonly HourlyStep[] {
  return listSteps(deps, parts).map(({ name, work }) => ({
    name,
    work: async () => (deps.clock.hasJumped && !NEEDED.has(name) ? 'left' : work()),
  }))
}

function listSteps(deps: Deps, { logger, version }: StepParts): readonly HourlyStep[] {
  const { pool, clock, config } = deps
  const now = () => new Date(clock.nowMs())
  let documentsFrom: DocumentPosition | null = null
  return [
    {
      name: 'partitions',
      async work() {
        const { moved, left } = await ensurePartitions(pool, now())
        if (moved.length > 0) logger.warn({ moved }, 'partitions.rows-moved')
        if (left.length > 0) logger.warn({ left }, 'partitions.left')
        return left.length > 0 ? 'left' : 'done'
      },
    },
    {
      name: 'feed',
      async work() {
        if (await inTransaction(pool, carryFeedOver)) logger.warn('feed.carried-over')
      },
    },
    {
      name: 'history',
      async work() {
        const dropped = await dropOldHistory(pool, now(), config.retentionDays)
        if (dropped.partitions.length > 0) logger.info(dropped, 'history.dropped')
        if (dropped.failed.length === 0) return 'done'
        logger.error({ failed: dropped.failed }, 'history.not-dropped')
        return 'left'
      },
    },
    {
      name: 'closed-days',
      async work() {
        const unwatched = await watchClosedDays(pool, now())
        if (unwatched.length > 0) logger.warn({ left: unwatched }, 'history.not-watched')
        const { vacuumed, left } = await vacuumClosedDays(pool, now())
        if (vacuumed.length > 0) logger.info({ vacuumed }, 'history.vacuumed')
        if (left.length > 0) logger.warn({ left }, 'history.not-vacuumed')
        return left.length + unwatched.length === 0 ? 'done' : 'left'
      },
    },
    {
      name: 'used-assertions',
      work: () => deleteOldAssertions(pool, now()),
    },
    {
      name: 'payments',
      async work() {
        const count = await forgetPayments(deps)
        if (count > 0) logger.info({ count }, 'payments.forgotten')
      },
    },
    {
      name: 'documents',
      async work() {
        const { count, next } = await forgetDocuments(deps, documentsFrom)
        documentsFrom = next
        if (count > 0) logger.info({ count }, 'documents.forgotten')
        return next === null ? 'done' : 'left'
      },
    },
    {
      name: 'audit',
      async work() {
        const { dropped, isLeft, remark } = await forgetAudit(deps)
        if (dropped.length > 0) logger.info({ months: dropped }, 'audit.dropped')
        if (remark !== null) logger.warn({ remark }, 'audit.not-dropped')
        return isLeft ? 'left' : 'done'
      },
    },
    {
      name: 'audit-index',
      async work() {
        const { made, left } = await indexPlaces(pool)
        if (made.length > 0) logger.info({ made }, 'audit.indexed')
        if (left.length === 0) return 'done'
        logger.warn({ left }, 'audit.not-indexed')
        return 'left'
      },
    },
    { name: 'hours', work: () => deleteOldHours(pool, now()) },
    {
      name: 'signing-keys',
      work: () => rotateSigningKeyIfOld(deps, TOKEN_KEYS, SIGNING_KEY_AGE_MS_MAX),
    },
    { name: 'webhook-keys', work: () => tendWebhookKeys(deps) },
    {
      name: 'sealing',
      async work() {
        const resealed = await tendBinding(deps, version, now())
        if (resealed > 0) logger.info({ endpoints: resealed }, 'sealing.bound')
      },
    },
    {
      name: 'statements',
      async work() {
        await markFeed(pool, now())
        await deleteOldMarks(pool, now())
        await deleteOldStatementHours(pool, now())
      },
    },
    { name: 'attempt-steps', work: () => deleteOldSteps(pool, now()) },
    {
      name: 'document-links',
      async work() {
        const days = config.retentionDays + DOCUMENT_LINKS_KEPT_DAYS_MORE
        const before = new Date(now().getTime() - days * DAY_MS)
        const count = await deleteOldDocumentLinks(pool, before, DOCUMENT_LINKS_AT_ONCE)
        return count < DOCUMENT_LINKS_AT_ONCE ? 'done' : 'left'
      },
    },
    { name: 'event-traces', work: () => deleteOldEventTraces(pool, now()) },
    {
      name: 'listeners',
      async work() {
        const { deleted, failed } = await deleteForgottenListeners(deps)
        if (deleted > 0) logger.info({ count: deleted }, 'listeners.forgotten')
        if (failed.length === 0) return 'done'
        logger.error({ failed }, 'listeners.not-deleted')
        return 'left'
      },
    },
    {
      name: 'deleted-endpoints',
      async work() {
        const { endpoints, isLeft, failed } = await tendDeleted(deps)
        if (endpoints > 0) logger.info({ endpoints, isLeft }, 'deleted-endpoints.tended')
        if (failed.length > 0) logger.error({ failed }, 'deleted-endpoints.not-tended')
        return isLeft || failed.length > 0 ? 'left' : 'done'
      },
    },
  ]
}
