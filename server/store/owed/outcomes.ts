// Recording what came of attempts, many in one statement. Guarded by the lease, as everything about held
// deliveries is (store/owed/held-deliveries.ts).

import type { FinalState } from '../../core/delivery/delivery.ts'
import type { ShardEpoch } from '../../core/delivery/lease.ts'
import type { Db } from '../connection/db.ts'
import { FILED_REPLAY, lastingColumns, movedColumns } from '../sql/file-deliveries.ts'
import { type GivenColumn, given } from '../sql/given-rows.ts'
import { byIndexOnly, filterOnly, IN_CELL } from '../sql/planner.ts'
import { guardedRows, type HeldDelivery, readLostLeases, sameDelivery } from './held-deliveries.ts'
import { recordLateSuccesses } from './late-successes.ts'

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
  /** Delivered, or under `latest` attempted, ahead of older updates: the same statement supersedes them. */
  supersedes: boolean
}

export interface Recorded {
  /** The ids that were changed; one that is not among them was cancelled before, or is another's. */
  ids: ReadonlySet<string>
  /** Leases that the records were made under and that are no longer ours. */
  lost: readonly ShardEpoch[]
}

/** Of a final delivery, after what it is from its first moment on. */
const ENDED_COLUMNS = `state, attempts, deadline_at, finished_at, last_outcome, last_status, attempted_at,
    duration_ms, is_replay`

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
  const ids = new Set(answers.flat().map(({ id }) => id))
  const unchanged = ids.size === records.length ? [] : records.filter(({ id }) => !ids.has(id))
  const late = unchanged.filter(({ state }) => state === 'DELIVERED')
  if (late.length > 0) await recordLateSuccesses(db, late)
  return { ids, lost: await readLostLeases(db, unchanged) }
}

/** Most attempts by far, and they need less than half of the columns. */
function isPlainlyDelivered(record: AttemptRecord): boolean {
  return record.state === 'DELIVERED' && !record.supersedes
}

const DELIVERED_COLUMNS: readonly GivenColumn<AttemptRecord>[] = [
  given('attempt', 'int', (record) => record.attempt),
  given('at_ms', 'float8', (record) => Math.floor(record.atMs)),
  given('duration_ms', 'int', (record) => Math.round(record.durationMs)),
  given('deadline_ms', 'float8', (record) => Math.floor(record.deadlineAtMs)),
]

const EXCERPT: GivenColumn<AttemptRecord> = given('excerpt', 'bytea', (record) => record.excerpt)

/**
 * Where no receiver said anything with its 200, as most do not, the statement knows nothing of excerpts: a
 * column of nulls, written, sent and read again for each batch, is what they would cost.
 */
const RECORD_DELIVERED = {
  silent: { name: 'record-delivered', ...recordDeliveredStatement(false) },
  talking: { name: 'record-delivered-with-excerpts', ...recordDeliveredStatement(true) },
}

function recordDeliveredStatement(hasExcerpts: boolean) {
  const rows = guardedRows(hasExcerpts ? [...DELIVERED_COLUMNS, EXCERPT] : DELIVERED_COLUMNS, 1)
  const [excerpt, ofMine] = hasExcerpts ? [', excerpt', ', m.excerpt'] : ['', '']
  const text = `with ${rows.head}, ended as (
      delete from pending_deliveries p using mine m
      where ${sameDelivery('m')} and p.attempts = m.attempt - 1
      returning ${lastingColumns('p')}, p.is_replay, m.attempt, m.deadline_ms, m.at_ms, m.duration_ms${ofMine}
    )
    insert into final_deliveries (${lastingColumns()}, ${ENDED_COLUMNS}${excerpt})
    select ${lastingColumns()}, 'DELIVERED', attempt, to_timestamp(deadline_ms / 1000), $3,
      'answered', 200, to_timestamp(at_ms / 1000), duration_ms, ${FILED_REPLAY}${excerpt}
    from ended
    returning id`
  return { rows, text }
}

async function recordDelivered(
  db: Db,
  records: readonly AttemptRecord[],
  now: Date,
): Promise<{ id: string }[]> {
  const hasExcerpts = records.some((record) => record.excerpt !== null)
  const { name, text, rows: given } = RECORD_DELIVERED[hasExcerpts ? 'talking' : 'silent']
  const { rows } = await db.query<{ id: string }>({
    name,
    text,
    values: given.values(records, now),
  })
  return rows
}

const RECORDS = guardedRows<AttemptRecord>(
  [
    given('endpoint_id', 'uuid', (record) => record.endpointId),
    given('payment_id', 'uuid', (record) => record.paymentId),
    given('sequence', 'int', (record) => record.sequence),
    given('attempt', 'int', (record) => record.attempt),
    given('run_attempt', 'int', (record) => record.runAttempt),
    given('at', 'timestamptz', (record) => record.atMs),
    given('duration_ms', 'int', (record) => Math.round(record.durationMs)),
    given('outcome', 'text', (record) => record.outcome),
    given('status', 'smallint', (record) => record.status),
    EXCERPT,
    given('state', 'text', (record) => record.state),
    given('next_attempt_at', 'timestamptz', (record) => record.nextAttemptAtMs),
    given('first_attempt_at', 'timestamptz', (record) => record.firstAttemptAtMs),
    given('first_failed_at', 'timestamptz', (record) => record.firstFailedAtMs),
    given('deadline_at', 'timestamptz', (record) => record.deadlineAtMs),
    given('supersedes', 'boolean', (record) => record.supersedes),
  ],
  1,
)

/** What is parked has no time of its own, also where everything at its endpoint was retried: that one says when. */
const SET_AT = `coalesce(p.next_attempt_at, (select e.retried_at from endpoints e
            where e.client_key = p.client_key and e.id = p.endpoint_id))`

async function recordAny(
  db: Db,
  records: readonly AttemptRecord[],
  now: Date,
): Promise<{ id: string }[]> {
  const { rows } = await db.query<{ id: string }>({
    name: 'record-outcomes',
    text: `with ${RECORDS.head}, kept as (
        update pending_deliveries p set
          attempts = m.attempt, run_attempts = m.run_attempt,
          -- A time after the attempt began was set during it: a retry was asked for, and holds.
          next_attempt_at = case when ${SET_AT} - m.at >= interval '1 ms'
            then least(${SET_AT}, m.next_attempt_at) else m.next_attempt_at end,
          first_attempt_at = m.first_attempt_at,
          first_failed_at = m.first_failed_at, deadline_at = m.deadline_at,
          last_outcome = m.outcome, last_status = m.status
        from mine m
        where m.state = 'PENDING' and ${sameDelivery('m')} and p.attempts = m.attempt - 1
        returning p.id
      ), ended as (
        delete from pending_deliveries p using mine m
        where m.state <> 'PENDING' and ${sameDelivery('m')} and p.attempts = m.attempt - 1
        returning ${lastingColumns('p')}, m.attempt as attempts, m.deadline_at,
          m.outcome as last_outcome, m.status as last_status, p.is_replay, m.state,
          case when m.state = 'DELIVERED' then m.at end as attempted_at,
          case when m.state = 'DELIVERED' then m.duration_ms end as duration_ms,
          case when m.state = 'DELIVERED' then m.excerpt end as excerpt
      ), attempted as (
        insert into earlier_attempts
          (client_key, delivery_id, attempt, at, duration_ms, outcome, status, excerpt)
        select client_key, id, attempt, at, duration_ms, outcome, status, excerpt from mine
        where state <> 'DELIVERED' and ${IN_CELL}
        on conflict do nothing
      ), overtaken as (
        delete from pending_deliveries p using mine m
        where m.supersedes
          and ${byIndexOnly('p.endpoint_id', 'm.endpoint_id')} and p.payment_id = m.payment_id
          and ${filterOnly('p.client_key', 'm.client_key')}
          and p.sequence < m.sequence and not p.is_replay
        returning ${movedColumns('p')}, p.is_replay, 'SUPERSEDED' as state, null::timestamptz,
          null::int, null::bytea
      ), filed as (
        insert into final_deliveries (${lastingColumns()}, ${ENDED_COLUMNS}, excerpt)
        select ${lastingColumns()}, state, attempts, deadline_at, $3, last_outcome, last_status,
          attempted_at, duration_ms, ${FILED_REPLAY}, excerpt
        from (select * from ended union all select * from overtaken) as gone
        where ${IN_CELL}
      )
      select id from kept union all select id from ended`,
    values: RECORDS.values(records, now),
  })
  return rows
}
