// What happens to held deliveries besides attempts: one is about to go ahead of an older one, their 7 days are over,
// they cannot move yet, or their endpoint is no longer active.

import type { ShardEpoch } from '../../core/delivery/lease.ts'
import type { Db } from '../connection/db.ts'
import { fileAs, movedColumns } from '../sql/file-deliveries.ts'
import { given } from '../sql/given-rows.ts'
import { guardedRows, type HeldDelivery, readLostLeases, sameDelivery } from './held-deliveries.ts'

const WITH_TIME = guardedRows<HeldDelivery>([], 1)
const WITH_TIMES = guardedRows<HeldDelivery>([], 2)

/**
 * The rows that are mine, found one by one. A select of its own that has a limit, or locks, is one that the
 * planner cannot turn about: it goes from mine into the table, whatever statistics say of that.
 */
const OWED = `owed as (
        select p.* from mine m cross join lateral (
          select p.client_key, p.id, p.endpoint_id from pending_deliveries p
          where p.client_key = m.client_key and p.id = m.id limit 1) as p)`

/** The endpoints of owed rows, each once and in one order. */
const LANES = `
          select distinct client_key, endpoint_id from owed order by client_key, endpoint_id`

/** Their 7 days ended while no attempt could be made: they end without a last one. */
export async function exhaustDeliveries(
  db: Db,
  deliveries: readonly HeldDelivery[],
  now: Date,
): Promise<void> {
  if (deliveries.length === 0) return
  await db.query({
    name: 'exhaust-deliveries',
    text: `with ${WITH_TIME.head}, ${OWED}, active as (
        -- A pause stops the 7 days, also one that the caller has not heard of yet.
        select e.* from (${LANES}) as lane cross join lateral (
          select e.client_key, e.id from endpoints e
          where e.client_key = lane.client_key and e.id = lane.endpoint_id and e.status = 'ACTIVE'
          for share of e) as e
      ), ended as (
        delete from pending_deliveries p
        using owed o join active a on a.client_key = o.client_key and a.id = o.endpoint_id
        where ${sameDelivery('o')} and p.deadline_at <= $3 and p.run_attempts > 0
        returning p.*)
      ${fileAs('EXHAUSTED', 'ended', '$3')}`,
    values: WITH_TIME.values(deliveries, now),
  })
}

export interface BegunRuns {
  /** False where one of them has ended, or is another's. */
  areBegun: boolean
  /** Leases that they are held by and that are no longer ours. */
  lost: readonly ShardEpoch[]
}

/** Their runs begin, before they are sent ahead of older updates: whoever sends next knows that they may have arrived. */
export async function beginRuns(
  db: Db,
  deliveries: readonly HeldDelivery[],
  now: Date,
  deadline: Date,
): Promise<BegunRuns> {
  const { rows } = await db.query<{ id: string }>({
    name: 'begin-runs',
    text: `with ${WITH_TIMES.head}
      update pending_deliveries p set first_attempt_at = coalesce(p.first_attempt_at, $3),
        deadline_at = coalesce(p.deadline_at, $4)
      from mine m where ${sameDelivery('m')} returning p.id`,
    values: WITH_TIMES.values(deliveries, now, deadline),
  })
  const ids = new Set(rows.map(({ id }) => id))
  const unchanged = deliveries.filter(({ id }) => !ids.has(id))
  return { areBegun: unchanged.length === 0, lost: await readLostLeases(db, unchanged) }
}

export interface Postponement extends HeldDelivery {
  /** The time that the engine knows of. */
  knownAtMs: number
  nextAttemptAtMs: number
}

const POSTPONEMENTS = guardedRows<Postponement>(
  [
    given('known_at', 'timestamptz', (row) => row.knownAtMs),
    given('next_attempt_at', 'timestamptz', (row) => row.nextAttemptAtMs),
  ],
  0,
)

/** Rows that cannot move must not be due: they would fill every page of due work. */
export async function postponeDeliveries(
  db: Db,
  postponed: readonly Postponement[],
): Promise<void> {
  if (postponed.length === 0) return
  await db.query({
    name: 'postpone-deliveries',
    text: `with ${POSTPONEMENTS.head}
      update pending_deliveries p set next_attempt_at = m.next_attempt_at
      from mine m
      where ${sameDelivery('m')}
        -- Not one that was parked, or whose time was moved by a retry that the engine has not heard of yet. With a
        -- coalesce, because the planner would take the index of what is due.
        and date_trunc('milliseconds', coalesce(p.next_attempt_at, '-infinity')) = m.known_at`,
    values: POSTPONEMENTS.values(postponed),
  })
}

/**
 * What an endpoint that is not active is owed waits without a due time; what a deleted one is owed
 * ends. The endpoint's row is locked for share, so this cannot cross with its resumption: either we
 * see it active and do nothing, or the resumption sees what we parked.
 */
export async function settleInactive(
  db: Db,
  deliveries: readonly HeldDelivery[],
  now: Date,
): Promise<void> {
  if (deliveries.length === 0) return
  await db.query({
    name: 'settle-inactive',
    text: `with ${WITH_TIME.head}, ${OWED}, inactive as (
        select e.* from (${LANES}) as lane cross join lateral (
          select e.client_key, e.id, e.deleted_at is not null as is_deleted from endpoints e
          where e.client_key = lane.client_key and e.id = lane.endpoint_id
            and (e.status <> 'ACTIVE' or e.deleted_at is not null)
          for share of e) as e
      ), settled as (
        -- Two of these may meet on the same rows: in one order, so that neither waits for ever. And
        -- after the endpoints, as a resumption and a cancellation lock them.
        select p.*, o.is_deleted from (
          select o.client_key, o.id, i.is_deleted
          from owed o join inactive i on i.client_key = o.client_key and i.id = o.endpoint_id
          order by o.client_key, o.id) as o
        cross join lateral (
          select p.client_key, p.id from pending_deliveries p
          where p.client_key = o.client_key and p.id = o.id for update of p) as p
      ), parked as (
        update pending_deliveries p set next_attempt_at = null
        from settled s where ${sameDelivery('s')} and not s.is_deleted
      ), cancelled as (
        delete from pending_deliveries p
        using settled s where ${sameDelivery('s')} and s.is_deleted
        returning ${movedColumns('p')}
      )
      ${fileAs('CANCELLED', 'cancelled', '$3')}`,
    values: WITH_TIME.values(deliveries, now),
  })
}
