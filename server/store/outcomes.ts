// Recording. Every statement here is guarded by the lease: it changes nothing for a shard whose epoch
// is no longer the recorder's. Leases are locked for key share: a take-over (for update, skip locked)
// passes them over until we are done, then reads what we wrote. A renewal is not held up: it would wait
// for whatever we wait for, and a process that is merely slow would lose its shards.

import type { FinalState } from '../core/delivery.ts'
import type { ShardEpoch } from '../core/lease.ts'
import { bytesColumn, instantColumn, plainColumn } from './columns.ts'
import type { Db } from './db.ts'
import { fileAs } from './file-deliveries.ts'
import { stretchAround, timesWithin } from './stretches.ts'

/** A delivery under the lease that the engine holds it by. */
export interface HeldDelivery {
  clientKey: number
  id: string
  shard: number
  epoch: number
}

export interface AttemptRecord extends HeldDelivery {
  endpointId: string
  paymentId: string
  sequence: number
  /** The number of this attempt, and its number within the run. */
  attempt: number
  runAttempt: number
  atMs: number
  durationMs: number
  outcome: string
  status: number | null
  excerpt: Uint8Array | null
  state: 'PENDING' | Extract<FinalState, 'DELIVERED' | 'EXHAUSTED'>
  nextAttemptAtMs: number | null
  firstAttemptAtMs: number
  firstFailedAtMs: number | null
  deadlineAtMs: number
  /** Delivered ahead of older updates of the payment: they are superseded in the same breath. */
  supersedes: boolean
}

export interface Recorded {
  /** The ids that were changed; one that is not among them was cancelled meanwhile, or is another's. */
  ids: ReadonlySet<string>
  /** Leases that the records were made under and that are no longer ours. */
  lost: readonly ShardEpoch[]
}

/** Those leases of `given` that are still ours. */
export const HELD = `held as (
  select l.shard, l.epoch from leases l
  where (l.shard, l.epoch) in (select shard, epoch from given)
  order by l.shard for key share of l)`

/**
 * Finds a given delivery by its key, and lets the planner do it in one way only: given rows first, one
 * descent of the key each. With a plain `=` it may also start from the table, when statistics call that
 * empty (it is, now and then), and hold every owed row against every given one: 2 s for a batch of a
 * thousand. An equality with an array can be looked up in the index, and nothing else.
 * For the same reason `client_key + 0` elsewhere keeps an index of the client's out of the choice.
 */
export function sameDelivery(given: string): string {
  return `p.client_key = any(array[${given}.client_key]) and p.id = any(array[${given}.id])`
}

/** A changed delivery, or a lease that is lost. */
type RecordedRow = { id: string } | ({ id: null } & ShardEpoch)

/** What a recording answers: the changed deliveries, then the given leases that are not ours. */
function selectRecorded(changed: string, shards: string, epochs: string): string {
  return `select id, null::smallint as shard, null::bigint as epoch from (${changed}) as changed
    union all
    select null, g.shard, g.epoch
    from unnest(${shards}::smallint[], ${epochs}::bigint[]) as g (shard, epoch)
    where (g.shard, g.epoch) not in (select shard, epoch from held)`
}

/** Those of the given leases that are still ours; each is given once. */
function heldOf(shards: string, epochs: string): string {
  return `held as (
    select l.shard, l.epoch from unnest(${shards}::smallint[], ${epochs}::bigint[]) as g (shard, epoch)
    join leases l on l.shard = any(array[g.shard]) and l.epoch = g.epoch
    order by l.shard for key share of l)`
}

// The case keeps this a look-up in a small table: as a join, each row would be held against each lease.
const MINE = `mine as (
  select * from given where case when (shard, epoch) in (select shard, epoch from held) then true end)`

const FINAL_COLUMNS = `client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind,
  created_at, state, attempts, deadline_at, finished_at, last_outcome, last_status, attempted_at,
  duration_ms`

/**
 * One row per attempt, and the delivery's next state. Safe to repeat after a commit whose answer was
 * lost: the attempt's number tells a second recording from the first.
 */
export async function recordOutcomes(
  db: Db,
  records: readonly AttemptRecord[],
  now: Date,
): Promise<Recorded> {
  const plain = records.filter(isPlainlyDelivered)
  const rest =
    plain.length === 0 ? records : records.filter((record) => !isPlainlyDelivered(record))
  const answers = await Promise.all([
    plain.length === 0 ? [] : recordDelivered(db, plain, now),
    rest.length === 0 ? [] : recordAny(db, rest, now),
  ])
  const ids = new Set<string>()
  // Both statements may name the same.
  const lost = new Map<string, ShardEpoch>()
  for (const row of answers.flat()) {
    if (row.id === null) lost.set(leaseKey(row), { shard: row.shard, epoch: row.epoch })
    else ids.add(row.id)
  }
  const vain = records.filter(({ id, state }) => state === 'DELIVERED' && !ids.has(id))
  if (vain.length > 0) await recordVain(db, vain)
  return { ids, lost: [...lost.values()] }
}

/**
 * Attempts that were answered with 200 and have ended nothing: their delivery was cancelled meanwhile, and
 * each needs a row of its own; or they are recorded a second time, and the history has them. Apart from the
 * statements above, which are hot and would have to look through all days of the history.
 */
async function recordVain(db: Db, records: readonly AttemptRecord[]): Promise<void> {
  const leases = distinctLeases(records)
  const since = stretchAround(records.map((record) => record.atMs))
  await db.query({
    text: `with given as (
             select * from unnest(
               $1::int[], $2::uuid[], $3::smallint[], $4::bigint[], $5::int[], $6::timestamptz[],
               $7::int[], $10::bytea[])
             as g (client_key, id, shard, epoch, attempt, at, duration_ms, excerpt)
           ), ${heldOf('$8', '$9')}, ${MINE}
           insert into earlier_attempts
             (client_key, delivery_id, attempt, at, duration_ms, outcome, status, excerpt)
           select client_key, id, attempt, at, duration_ms, 'answered', 200, excerpt from mine m
           where (select true from final_deliveries f
             where f.client_key = m.client_key and f.id = m.id and f.state = 'DELIVERED'
               and f.attempts = m.attempt and f.attempted_at = m.at
               and ${timesWithin({ ...since, toMs: Number.POSITIVE_INFINITY }, 'f.finished_at')}
             limit 1) is null
           on conflict do nothing`,
    values: [
      ...heldColumns(records),
      plainColumn(records, (record) => record.attempt),
      instantColumn(records, (record) => record.atMs),
      plainColumn(records, (record) => Math.round(record.durationMs)),
      plainColumn(leases, (lease) => lease.shard),
      plainColumn(leases, (lease) => lease.epoch),
      bytesColumn(records, (record) => record.excerpt),
    ],
  })
}

/** Most attempts by far, and they need less than half of the columns. */
function isPlainlyDelivered(record: AttemptRecord): boolean {
  return record.state === 'DELIVERED' && !record.supersedes
}

/**
 * Where nobody said anything with a 200, as most do, the statement knows nothing of excerpts: a column of
 * nulls, written, sent and read again for each batch, is what they would cost.
 */
const RECORD_DELIVERED = {
  silent: { name: 'record-delivered', text: recordDeliveredText(false) },
  talking: { name: 'record-delivered-with-excerpts', text: recordDeliveredText(true) },
}

function recordDeliveredText(hasExcerpts: boolean): string {
  const [given, column, ofMine] = hasExcerpts
    ? [', $12::bytea[]', ', excerpt', ', m.excerpt']
    : ['', '', '']
  return `with given as (
             select * from unnest(
               $1::int[], $2::uuid[], $3::smallint[], $4::bigint[], $5::int[], $6::float8[],
               $7::int[], $8::float8[]${given})
             as g (client_key, id, shard, epoch, attempt, at_ms, duration_ms, deadline_ms${column})
           ), ${heldOf('$9', '$10')}, ${MINE}, ended as (
             delete from pending_deliveries p using mine m
             where ${sameDelivery('m')} and p.attempts = m.attempt - 1
             returning p.client_key, p.id, p.event_id, p.endpoint_id, p.payment_id, p.account_id,
               p.sequence, p.kind, p.created_at, m.attempt, m.deadline_ms, m.at_ms, m.duration_ms${ofMine}
           ), filed as (
             insert into final_deliveries (${FINAL_COLUMNS}${column})
             select client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind,
               created_at, 'DELIVERED', attempt, to_timestamp(deadline_ms / 1000), $11, 'answered', 200,
               to_timestamp(at_ms / 1000), duration_ms${column}
             from ended
           )
           ${selectRecorded('select id from ended', '$9', '$10')}`
}

async function recordDelivered(
  db: Db,
  records: readonly AttemptRecord[],
  now: Date,
): Promise<RecordedRow[]> {
  const leases = distinctLeases(records)
  const hasExcerpts = records.some((record) => record.excerpt !== null)
  const { rows } = await db.query<RecordedRow>({
    ...(hasExcerpts ? RECORD_DELIVERED.talking : RECORD_DELIVERED.silent),
    values: [
      plainColumn(records, (record) => record.clientKey),
      plainColumn(records, (record) => record.id),
      plainColumn(records, (record) => record.shard),
      plainColumn(records, (record) => record.epoch),
      plainColumn(records, (record) => record.attempt),
      plainColumn(records, (record) => Math.floor(record.atMs)),
      plainColumn(records, (record) => Math.round(record.durationMs)),
      plainColumn(records, (record) => Math.floor(record.deadlineAtMs)),
      plainColumn(leases, (lease) => lease.shard),
      plainColumn(leases, (lease) => lease.epoch),
      now,
      ...(hasExcerpts ? [bytesColumn(records, (record) => record.excerpt)] : []),
    ],
  })
  return rows
}

async function recordAny(
  db: Db,
  records: readonly AttemptRecord[],
  now: Date,
): Promise<RecordedRow[]> {
  const leases = distinctLeases(records)
  const { rows } = await db.query<RecordedRow>({
    name: 'record-outcomes',
    text: `with given as (
             select * from unnest(
               $1::int[], $2::uuid[], $3::smallint[], $4::bigint[], $5::uuid[], $6::uuid[], $7::int[],
               $8::int[], $9::int[], $10::timestamptz[], $11::int[], $12::text[], $13::smallint[],
               $14::bytea[], $15::text[], $16::timestamptz[], $17::timestamptz[], $18::timestamptz[],
               $19::timestamptz[], $20::boolean[])
             as g (client_key, id, shard, epoch, endpoint_id, payment_id, sequence,
               attempt, run_attempt, at, duration_ms, outcome, status,
               excerpt, state, next_attempt_at, first_attempt_at, first_failed_at,
               deadline_at, supersedes)
           ), ${heldOf('$22', '$23')}, ${MINE}, kept as (
             update pending_deliveries p set
               attempts = m.attempt, run_attempts = m.run_attempt,
               next_attempt_at = m.next_attempt_at, first_attempt_at = m.first_attempt_at,
               first_failed_at = m.first_failed_at, deadline_at = m.deadline_at,
               last_outcome = m.outcome, last_status = m.status
             from mine m
             where m.state = 'PENDING' and ${sameDelivery('m')}
               and p.attempts = m.attempt - 1
             returning p.id
           ), ended as (
             delete from pending_deliveries p using mine m
             where m.state <> 'PENDING' and ${sameDelivery('m')}
               and p.attempts = m.attempt - 1
             returning p.client_key, p.id, p.event_id, p.endpoint_id, p.payment_id, p.account_id,
               p.sequence, p.kind, p.created_at, m.state, m.attempt as attempts, m.deadline_at,
               m.outcome as last_outcome, m.status as last_status,
               case when m.state = 'DELIVERED' then m.at end as attempted_at,
               case when m.state = 'DELIVERED' then m.duration_ms end as duration_ms,
               case when m.state = 'DELIVERED' then m.excerpt end as excerpt
           ), attempted as (
             insert into earlier_attempts
               (client_key, delivery_id, attempt, at, duration_ms, outcome, status, excerpt)
             select client_key, id, attempt, at, duration_ms, outcome, status, excerpt from mine
             where state <> 'DELIVERED'
             on conflict do nothing
           ), overtaken as (
             delete from pending_deliveries p using mine m
             where m.supersedes and m.state = 'DELIVERED' and p.client_key + 0 = m.client_key
               and p.endpoint_id = any(array[m.endpoint_id])
               and p.payment_id = any(array[m.payment_id]) and p.sequence < m.sequence and not p.is_replay
             returning p.client_key, p.id, p.event_id, p.endpoint_id, p.payment_id, p.account_id,
               p.sequence, p.kind, p.created_at, 'SUPERSEDED' as state, p.attempts, p.deadline_at,
               p.last_outcome, p.last_status, null::timestamptz, null::int, null::bytea
           ), filed as (
             insert into final_deliveries (${FINAL_COLUMNS}, excerpt)
             select client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind,
               created_at, state, attempts, deadline_at, $21, last_outcome, last_status, attempted_at,
               duration_ms, excerpt
             from (select * from ended union all select * from overtaken) as gone
           )
           ${selectRecorded('select id from kept union all select id from ended', '$22', '$23')}`,
    values: [
      plainColumn(records, (record) => record.clientKey),
      plainColumn(records, (record) => record.id),
      plainColumn(records, (record) => record.shard),
      plainColumn(records, (record) => record.epoch),
      plainColumn(records, (record) => record.endpointId),
      plainColumn(records, (record) => record.paymentId),
      plainColumn(records, (record) => record.sequence),
      plainColumn(records, (record) => record.attempt),
      plainColumn(records, (record) => record.runAttempt),
      instantColumn(records, (record) => record.atMs),
      plainColumn(records, (record) => Math.round(record.durationMs)),
      plainColumn(records, (record) => record.outcome),
      plainColumn(records, (record) => record.status),
      bytesColumn(records, (record) => record.excerpt),
      plainColumn(records, (record) => record.state),
      instantColumn(records, (record) => record.nextAttemptAtMs),
      instantColumn(records, (record) => record.firstAttemptAtMs),
      instantColumn(records, (record) => record.firstFailedAtMs),
      instantColumn(records, (record) => record.deadlineAtMs),
      plainColumn(records, (record) => record.supersedes),
      now,
      plainColumn(leases, (lease) => lease.shard),
      plainColumn(leases, (lease) => lease.epoch),
    ],
  })
  return rows
}

/** Their 7 days ended while nobody could try: they end without a last attempt. */
export async function exhaustDeliveries(
  db: Db,
  deliveries: readonly HeldDelivery[],
  now: Date,
): Promise<void> {
  if (deliveries.length === 0) return
  await db.query({
    name: 'exhaust-deliveries',
    text: `with given as (
             select * from unnest($1::int[], $2::uuid[], $3::smallint[], $4::bigint[])
             as g (client_key, id, shard, epoch)
           ), ${HELD}, active as (
             -- A pause stops the 7 days, also one that the caller has not heard of yet.
             select e.client_key, e.id from endpoints e
             where e.status = 'ACTIVE' and (e.client_key, e.id) in (
                 select p.client_key, p.endpoint_id from pending_deliveries p
                 join given g on ${sameDelivery('g')})
             order by e.client_key, e.id for share of e
           ), ended as (
             delete from pending_deliveries p
             using given g join held using (shard, epoch), active a
             where ${sameDelivery('g')} and p.deadline_at <= $5
               and a.client_key = p.client_key and a.id = p.endpoint_id
             returning p.*)
           ${fileAs('EXHAUSTED', 'ended', '$5')}`,
    values: [...heldColumns(deliveries), now],
  })
}

export interface Postponement extends HeldDelivery {
  nextAttemptAtMs: number
}

/** Rows that cannot move must not be due: they would fill every page of due work. */
export async function postponeDeliveries(
  db: Db,
  postponed: readonly Postponement[],
): Promise<void> {
  if (postponed.length === 0) return
  await db.query({
    name: 'postpone-deliveries',
    text: `with given as (
             select * from unnest($1::int[], $2::uuid[], $3::smallint[], $4::bigint[], $5::timestamptz[])
             as g (client_key, id, shard, epoch, next_attempt_at)
           ), ${HELD}
           update pending_deliveries p set next_attempt_at = g.next_attempt_at
           from given g join held using (shard, epoch)
           where ${sameDelivery('g')}
             -- Not for the planner, which would take the index of what is due.
             and coalesce(p.next_attempt_at, '-infinity') > '-infinity'`,
    values: [...heldColumns(postponed), instantColumn(postponed, (row) => row.nextAttemptAtMs)],
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
    text: `with given as (
             select * from unnest($1::int[], $2::uuid[], $3::smallint[], $4::bigint[])
             as g (client_key, id, shard, epoch)
           ), ${HELD}, inactive as (
             select e.client_key, e.id, e.deleted_at is not null as is_deleted from endpoints e
             where (e.status <> 'ACTIVE' or e.deleted_at is not null) and (e.client_key, e.id) in (
                 select p.client_key, p.endpoint_id from pending_deliveries p
                 join given g on ${sameDelivery('g')})
             order by e.client_key, e.id for share of e
           ), owed as (
             -- Two of these may meet on the same rows: in one order, so that neither waits for ever.
             select p.client_key, p.id from pending_deliveries p
             join given g on ${sameDelivery('g')}
             join held h on h.shard = g.shard and h.epoch = g.epoch
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
             returning p.client_key, p.id, p.event_id, p.endpoint_id, p.payment_id, p.account_id,
               p.sequence, p.kind, p.created_at, p.attempts, p.deadline_at, p.last_outcome,
               p.last_status
           )
           ${fileAs('CANCELLED', 'cancelled', '$5')}`,
    values: [...heldColumns(deliveries), now],
  })
}

/** Nearly always the newest epoch of each shard; an older one that is among them finds no lease. */
function distinctLeases(records: readonly HeldDelivery[]): ShardEpoch[] {
  const seen = new Map<string, ShardEpoch>()
  for (const { shard, epoch } of records) seen.set(leaseKey({ shard, epoch }), { shard, epoch })
  return [...seen.values()]
}

function leaseKey({ shard, epoch }: ShardEpoch): string {
  return `${shard}/${epoch}`
}

export function heldColumns(rows: readonly HeldDelivery[]): string[] {
  return [
    plainColumn(rows, (row) => row.clientKey),
    plainColumn(rows, (row) => row.id),
    plainColumn(rows, (row) => row.shard),
    plainColumn(rows, (row) => row.epoch),
  ]
}
