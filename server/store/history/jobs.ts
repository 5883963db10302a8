// Jobs: what was asked for in bulk, and the deliveries that it still has to deal with. The process
// that holds a job's row locked works on it; what it does and that it is done are committed together.

import { type Page, type PageRequest, pageOffset } from '../../core/asking/numbered-pages.ts'
import type { Db } from '../connection/db.ts'
import { column } from '../sql/columns.ts'

export type JobKind = 'replay' | 'recover' | 'cancel' | 'retry' | 'replay-missing'
export type JobState = 'RUNNING' | 'DONE' | 'FAILED'

export interface Job {
  id: string
  kind: JobKind
  state: JobState
  total: number
  /** Items dealt with, and how many of these had moved on by themselves before their turn came. */
  done: number
  passedOver: number
  startedAt: Date
  finishedAt: Date | null
}

interface JobRow {
  id: string
  kind: JobKind
  state: JobState
  total: number
  done: number
  passed_over: number
  started_at: Date
  finished_at: Date | null
}

const COLUMNS = 'id, kind, state, total, done, passed_over, started_at, finished_at'

/** Which process works on a job, and until when no other may. */
export interface JobHold {
  runner: string
  until: Date
  now: Date
}

/** A job without items is done. */
export async function insertJob(
  db: Db,
  job: { id: string; kind: JobKind; total: number },
  hold: JobHold,
): Promise<void> {
  const isDone = job.total === 0
  await db.query({
    name: 'insert-job',
    text: `insert into jobs (id, kind, state, total, runner, held_until, started_at, finished_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    values: [
      job.id,
      job.kind,
      isDone ? 'DONE' : 'RUNNING',
      job.total,
      hold.runner,
      hold.until,
      hold.now,
      isDone ? hold.now : null,
    ],
  })
}

export async function countRunningJobs(db: Db): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'count-running-jobs',
    text: `select count(*) as count from jobs where state = 'RUNNING'`,
  })
  return rows[0]?.count ?? 0
}

export async function findJob(db: Db, jobId: string): Promise<Job | null> {
  const { rows } = await db.query<JobRow>({
    name: 'find-job',
    text: `select ${COLUMNS} from jobs where id = $1`,
    values: [jobId],
  })
  return rows[0] ? toJob(rows[0]) : null
}

/** The newest first: ids rise with time. */
export async function listJobs(db: Db, page: PageRequest): Promise<Page<Job>> {
  // One statement, hence one snapshot. The outer join keeps the count when the page is empty.
  const { rows } = await db.query<{ all_jobs: number } & Partial<JobRow>>({
    text: `select all_of_them.total as all_jobs, shown.*
           from (select count(*) as total from jobs) as all_of_them
           left join lateral (
             select ${COLUMNS} from jobs order by id desc limit $1 offset $2) as shown on true
           order by shown.id desc`,
    values: [page.size, pageOffset(page)],
  })
  const items = rows.filter((row): row is typeof row & JobRow => row.id != null)
  return { ...page, items: items.map(toJob), total: rows[0]?.all_jobs ?? 0 }
}

/**
 * A hold that ends later than twice the time of a hold from now was made while the clock was ahead. It counts as over:
 * its process may be dead, and one that lives loses a job between two chunks, no more.
 */
function latestHold({ until, now }: JobHold): Date {
  return new Date(2 * until.getTime() - now.getTime())
}

/** Running jobs that no process works on, oldest first. */
export async function findLeftJobs(
  db: Db,
  hold: JobHold,
  limit: number,
): Promise<readonly string[]> {
  const { rows } = await db.query<{ id: string }>({
    name: 'find-left-jobs',
    text: `select id from jobs where state = 'RUNNING' and (held_until < $1 or held_until > $3)
           order by id limit $2`,
    values: [hold.now, limit, latestHold(hold)],
  })
  return rows.map((row) => row.id)
}

/** The running job, locked and held; null when it is finished, or another process works on it. */
export async function holdJob(db: Db, jobId: string, hold: JobHold): Promise<Job | null> {
  const { rows } = await db.query<JobRow>({
    name: 'hold-job',
    text: `with free as (
             select id from jobs where id = $1 and state = 'RUNNING'
               and (runner = $2 or held_until < $4 or held_until > $5) for update skip locked)
           update jobs j set runner = $2, held_until = $3
           from free where j.id = free.id
           returning j.id, j.kind, j.state, j.total, j.done, j.passed_over, j.started_at,
             j.finished_at`,
    values: [jobId, hold.runner, hold.until, hold.now, latestHold(hold)],
  })
  return rows[0] ? toJob(rows[0]) : null
}

export interface JobItem {
  clientKey: number
  id: string
  endpointId: string
  /** As the database writes it; empty for a pending delivery. */
  finishedAt: string
  /** Its number in the job, from 0. */
  position: number
}

/** The next items of a job, in order; those before `fromPosition` have been looked at already. */
export async function readItems(
  db: Db,
  jobId: string,
  fromPosition: number,
  limit: number,
): Promise<{ items: readonly JobItem[]; nextPosition: number | null }> {
  const { rows } = await db.query<{
    client_key: number
    delivery_id: string
    endpoint_id: string
    finished_at: string | null
    place: number
  }>({
    name: 'read-job-items',
    text: `select client_key, delivery_id, endpoint_id, finished_at::text, place from job_items
           where job_id = $1 and place >= $2 order by place limit $3`,
    values: [jobId, fromPosition, limit],
  })
  const last = rows.at(-1)
  return {
    items: rows.map((row) => ({
      clientKey: row.client_key,
      id: row.delivery_id,
      endpointId: row.endpoint_id,
      finishedAt: row.finished_at ?? '',
      position: row.place,
    })),
    nextPosition: rows.length < limit || last === undefined ? null : last.place + 1,
  }
}

/** These are dealt with: they leave, the job is that much further, and failures count from 0 again. */
export async function settleItems(
  db: Db,
  jobId: string,
  settled: readonly JobItem[],
  passedOver: number,
): Promise<void> {
  if (settled.length === 0) return
  await db.query({
    name: 'settle-job-items',
    text: `with gone as (
             delete from job_items where job_id = $1 and place = any($2::int[]))
           update jobs set done = done + $3, passed_over = passed_over + $4, failures = 0
           where id = $1`,
    values: [jobId, column('int', settled, (item) => item.position), settled.length, passedOver],
  })
}

/** Done, where nothing is left to do. */
export async function finishJob(db: Db, jobId: string, now: Date): Promise<void> {
  await db.query({
    name: 'finish-job',
    text: `update jobs set state = 'DONE', finished_at = $2, runner = null
           where id = $1 and state = 'RUNNING'
             and not exists (select from job_items where job_id = $1)`,
    values: [jobId, now],
  })
}

/** A chunk failed for a reason of our own; after `failuresMax` of them in a row the job is given up. */
export async function noteFailure(
  db: Db,
  jobId: string,
  failuresMax: number,
  now: Date,
): Promise<boolean> {
  const { rows } = await db.query<{ state: JobState }>({
    name: 'note-job-failure',
    text: `with noted as (
             update jobs set failures = failures + 1,
               state = case when failures + 1 >= $2 then 'FAILED' else state end,
               finished_at = case when failures + 1 >= $2 then $3::timestamptz end
             where id = $1 and state = 'RUNNING' returning state
           ), gone as (
             delete from job_items where job_id = $1
               and exists (select from noted where state = 'FAILED'))
           select state from noted`,
    values: [jobId, failuresMax, now],
  })
  return rows[0]?.state === 'FAILED'
}

export async function deleteOldJobs(db: Db, before: Date): Promise<void> {
  await db.query(
    `with gone as (delete from jobs where finished_at < $1 returning id)
     delete from job_deliveries where job_id in (select id from gone)`,
    [before],
  )
}

function toJob(row: JobRow): Job {
  return {
    id: row.id,
    kind: row.kind,
    state: row.state,
    total: row.total,
    done: row.done,
    passedOver: row.passed_over,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
  }
}
