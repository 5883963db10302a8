// PostgreSQL and the twin, one after the other: the same transactions in the same interleaving. A script
// holds a side still where it needs to, and does what others do in between.

import { setImmediate as nextLoop } from 'node:timers/promises'
import type { Pool } from 'pg'
import { shardOf } from '../../server/core/delivery/endpoint.ts'
import type { PaymentStore } from '../../server/operations/accepting/payment-store.ts'
import { postgresPaymentStore } from '../../server/operations/accepting/postgres-payment-store.ts'
import {
  type Locking,
  type PaymentChange,
  type RecordedChanges,
  recordPayments,
} from '../../server/operations/accepting/record-payments.ts'
import { changeEndpoint } from '../../server/operations/endpoints/change-endpoint.ts'
import { deleteEndpoint } from '../../server/operations/endpoints/delete-endpoint.ts'
import { saveEndpoint } from '../../server/operations/endpoints/save-endpoint.ts'
import { createPool } from '../../server/store/connection/db.ts'
import { keyOf } from '../simulator/key-ring.ts'
import * as twinEndpoints from '../simulator/twin-endpoints.ts'
import { until } from '../support/until.ts'
import type { BothStores } from './both-stores.ts'
import { twinPaymentStore } from './twin-payment-store.ts'

export interface Side {
  /** The real recordPayments; `onLocked` runs when the payments are locked and before all else. */
  record(
    changes: readonly PaymentChange[],
    locking?: Locking,
    onLocked?: () => Promise<void>,
  ): Promise<RecordedChanges>
  /** The same with a statement's time of 300 ms. */
  recordImpatiently(changes: readonly PaymentChange[]): Promise<RecordedChanges>
  /** Until so many transactions wait for a lock of another. */
  untilWaiting(count: number): Promise<void>
  /** From now on transactions that have fanned out do not get on with their commit, until released. */
  holdCommits(): Promise<{ untilOneIsHeld(): Promise<void>; release(): Promise<void> }>
  changeStatus(endpointId: string, status: 'ACTIVE' | 'PAUSED'): Promise<void>
  remove(endpointId: string): Promise<void>
  /** A subscription; returns its id. */
  register(url: string): Promise<string>
}

const IMPATIENT_MS = 300
const COMMIT_GATE = 424_242

export async function postgresSide(both: BothStores): Promise<Side & { end(): Promise<void> }> {
  const { pool, url } = both.database
  await pool.query(`
    create or replace function wait_at_commit() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock(${COMMIT_GATE}); return null; end $$`)
  await pool.query(`
    create constraint trigger waits_at_commit after insert on events
      deferrable initially deferred for each row execute function wait_at_commit()`)
  const impatient = createPool({
    url,
    connectionsMax: 2,
    onIdleError: () => {},
    applicationName: 'paybell test',
    statementTimeoutMs: IMPATIENT_MS,
  })
  const record = (payments: PaymentStore, changes: readonly PaymentChange[], locking?: Locking) => {
    const accounts = { find: async () => new Map([[both.accountId, both.clientKey]]) }
    return recordPayments({ ...both.deps, payments, accounts }, changes, locking)
  }
  return {
    record: (changes, locking, onLocked) =>
      record(stopping(postgresPaymentStore(pool), onLocked), changes, locking),
    recordImpatiently: (changes) => record(postgresPaymentStore(impatient), changes, 'wait'),
    untilWaiting: (count) => untilWaiting(pool, count),
    holdCommits: async () => {
      const gate = await pool.connect()
      await gate.query('select pg_advisory_lock($1)', [COMMIT_GATE])
      return {
        untilOneIsHeld: () => untilWaiting(pool, 1),
        release: async () => {
          await gate.query('select pg_advisory_unlock($1)', [COMMIT_GATE])
          gate.release()
        },
      }
    },
    changeStatus: async (endpointId, status) => {
      await changeEndpoint(both.deps, both.scopeOf(endpointId), endpointId, {
        status,
        settings: {},
      })
    },
    remove: (endpointId) => deleteEndpoint(both.deps, both.scopeOf(endpointId), endpointId),
    register: (url) => saveEndpoint(both.deps, both.requestFor(url, null, 'k')),
    end: () => impatient.end(),
  }
}

/** Takes over the ids that PostgreSQL's side has drawn. */
export function twinSide(both: BothStores): Side {
  const { twin } = both
  const ids = both.takeIds()
  let gate: Promise<void> = Promise.resolve()
  const record = (payments: PaymentStore, changes: readonly PaymentChange[], locking?: Locking) =>
    recordPayments(
      {
        payments,
        accounts: { find: async () => new Map([[both.accountId, both.clientKey]]) },
        clock: both.deps.clock,
        newId: () => ids.shift() as string,
      },
      changes,
      locking,
    )
  return {
    record: (changes, locking, onLocked) => {
      const store = twinPaymentStore(twin, { beforeCommit: () => gate })
      return record(stopping(store, onLocked), changes, locking)
    },
    recordImpatiently: (changes) =>
      record(twinPaymentStore(twin, { statementMsMax: IMPATIENT_MS }), changes, 'wait'),
    untilWaiting: async () => void (await nextLoop()),
    holdCommits: async () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      gate = promise
      return { untilOneIsHeld: async () => void (await nextLoop()), release: async () => resolve() }
    },
    changeStatus: async (endpointId, status) => {
      twinEndpoints.changeStatus(twin, endpointId, status, both.nowMs)
    },
    remove: async (endpointId) => {
      twinEndpoints.deleteEndpoint(twin, endpointId, both.nowMs)
    },
    register: async (url) => {
      const id = ids.shift() as string
      const { clientKey, nowMs } = both
      const endpoint = { clientKey, id, accountId: null, shard: shardOf(id), url, key: keyOf('k') }
      twinEndpoints.registerEndpoint(twin, endpoint, nowMs)
      return id
    },
  }
}

/** The same store, where a transaction that has its locks waits for `onLocked`. */
function stopping(
  store: PaymentStore,
  onLocked: () => Promise<void> = async () => {},
): PaymentStore {
  return {
    ...store,
    transact: (work) =>
      store.transact((transaction) =>
        work({
          ...transaction,
          tryLock: async (...asked) => {
            const locked = await transaction.tryLock(...asked)
            await onLocked()
            return locked
          },
          lock: async (...asked) => {
            const locked = await transaction.lock(...asked)
            await onLocked()
            return locked
          },
        }),
      ),
  }
}

/** Until so many connections of this database wait for a lock. */
export async function untilWaiting(pool: Pool, count: number): Promise<void> {
  await until(`${count} wait`, async () => {
    const { rows } = await pool.query<{ waiting: number }>(
      `select count(*) as waiting from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return (rows[0]?.waiting ?? 0) >= count
  })
}
