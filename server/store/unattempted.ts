// What happens to held deliveries without an attempt: their 7 days are over, they cannot move yet, or their
// endpoint is no longer active.

import type { Db } from './db.ts'
import { fileAs, movedColumns } from './file-deliveries.ts'
import { instant } from './given-rows.ts'
import { guardedRows, type HeldDelivery, sameDelivery } from './held-deliveries.ts'

const WITH_TIME = guardedRows<HeldDelivery>([], 1)

/** Their 7 days ended while no attempt could be made: they end without a last one. */
export async function exhaustDeliveries(
  db: Db,
  deliveries: readonly HeldDelivery[],
  now: Date,
): Promise<void> {
  if (deliveries.length === 0) return
  await db.query({
    name: 'exhaust-deliveries',
    text: `with ${WITH_TIME.head}, active as (
        -- A pause stops the 7 days, also one that the caller has not heard of yet.
        select e.client_key, e.id from endpoints e
        where e.status = 'ACTIVE' and (e.client_key, e.id) in (
          select p.client_key, p.endpoint_id from pending_deliveries p
          join mine m on ${sameDelivery('m')})
        order by e.client_key, e.id for share of e
      ), ended as (
        delete from pending_deliveries p
        using mine m, active a
        where ${sameDelivery('m')} and p.deadline_at <= $3
          and a.client_key = p.client_key and a.id = p.endpoint_id
        returning p.*)
      ${fileAs('EXHAUSTED', 'ended', '$3')}`,
    values: WITH_TIME.values(deliveries, now),
  })
}

export interface Postponement extends HeldDelivery {
  nextAttemptAtMs: number
}

const POSTPONEMENTS = guardedRows<Postponement>(
  [instant('next_attempt_at', (row) => row.nextAttemptAtMs)],
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
        -- Not for the planner, which would take the index of what is due.
        and coalesce(p.next_attempt_at, '-infinity') > '-infinity'`,
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
    text: `with ${WITH_TIME.head}, inactive as (
        select e.client_key, e.id, e.deleted_at is not null as is_deleted from endpoints e
        where (e.status <> 'ACTIVE' or e.deleted_at is not null) and (e.client_key, e.id) in (
          select p.client_key, p.endpoint_id from pending_deliveries p
          join mine m on ${sameDelivery('m')})
        order by e.client_key, e.id for share of e
      ), owed as (
        -- Two of these may meet on the same rows: in one order, so that neither waits for ever.
        select p.client_key, p.id from pending_deliveries p
        join mine m on ${sameDelivery('m')}
        order by p.client_key, p.id for update of p
      ), parked as (
        update pending_deliveries p set next_attempt_at = null
        from owed o, inactive i
        where ${sameDelivery('o')}
          and i.client_key = p.client_key and i.id = p.endpoint_id and not i.is_deleted
      ), cancelled as (
        delete from pending_deliveries p
        using owed o, inactive i
        where ${sameDelivery('o')}
          and i.client_key = p.client_key and i.id = p.endpoint_id and i.is_deleted
        returning ${movedColumns('p')}
      )
      ${fileAs('CANCELLED', 'cancelled', '$3')}`,
    values: WITH_TIME.values(deliveries, now),
  })
}
