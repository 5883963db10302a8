// What upkeep does every hour, step by step. None depends on one before it: each may fail alone.

import type { Logger } from 'pino'
import { DAY_MS } from '../core/backoff.ts'
import type { Deps } from '../operations/parts/deps.ts'
import { rotateSigningKeyIfOld } from '../operations/parts/keyring.ts'
import { inTransaction } from '../store/db.ts'
import { deleteOldEventTraces } from '../store/event-traces.ts'
import { carryFeedOver } from '../store/feed-origin.ts'
import { ensurePartitions } from '../store/partitions.ts'
import { deleteOldHours, dropOldHistory } from '../store/retention.ts'
import { deleteOldSteps } from '../store/stats.ts'
import { forgetAudit, forgetPayments } from './forget-old.ts'
import { deleteForgottenListeners } from './tend-listeners.ts'

const SIGNING_KEY_AGE_MS_MAX = 30 * DAY_MS

export interface HouseStep {
  name: string
  /** `left`: some of it has to be tried again soon. Everything else is done. */
  run(): Promise<unknown>
}

export function houseSteps(deps: Deps, logger: Logger): readonly HouseStep[] {
  const { pool, clock, config } = deps
  const now = () => new Date(clock.nowMs())
  return [
    {
      name: 'partitions',
      async run() {
        const { moved, left } = await ensurePartitions(pool, now())
        if (moved.length > 0) logger.warn({ moved }, 'partitions.rows-moved')
        if (left.length > 0) logger.warn({ left }, 'partitions.left')
        return left.length > 0 ? 'left' : 'done'
      },
    },
    {
      name: 'feed',
      async run() {
        if (await inTransaction(pool, carryFeedOver)) logger.warn('feed.carried-over')
      },
    },
    {
      name: 'history',
      async run() {
        const dropped = await dropOldHistory(pool, now(), config.retentionDays)
        if (dropped.partitions.length > 0) logger.info(dropped, 'history.dropped')
        if (dropped.failed.length === 0) return 'done'
        logger.error({ failed: dropped.failed }, 'history.not-dropped')
        return 'left'
      },
    },
    {
      name: 'payments',
      async run() {
        const count = await forgetPayments(deps)
        if (count > 0) logger.info({ count }, 'payments.forgotten')
      },
    },
    {
      name: 'audit',
      async run() {
        const { dropped, remark } = await forgetAudit(deps)
        if (dropped.length > 0) logger.info({ months: dropped }, 'audit.dropped')
        if (remark !== null) logger.warn({ remark }, 'audit.not-dropped')
      },
    },
    { name: 'hours', run: () => deleteOldHours(pool, now()) },
    { name: 'signing-keys', run: () => rotateSigningKeyIfOld(deps, SIGNING_KEY_AGE_MS_MAX) },
    { name: 'attempt-steps', run: () => deleteOldSteps(pool, now()) },
    { name: 'event-traces', run: () => deleteOldEventTraces(pool, now()) },
    {
      name: 'listeners',
      async run() {
        const count = await deleteForgottenListeners(deps)
        if (count > 0) logger.info({ count }, 'listeners.forgotten')
      },
    },
  ]
}
