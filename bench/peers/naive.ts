// What most teams write: a table, `for update skip locked`, fetch, and an update; a poll when idle.

import { createSecretKey } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { firstHeaders } from '../harness/first-headers.ts'
import { SHARED_KEY } from '../paybell/prepare.ts'
import { AttemptRows } from './attempt-rows.ts'
import type { Job, Peer, PeerContext } from './peer.ts'

const WORKERS = 32
const IDLE_MS = 50

interface JobRow {
  id: string
  payment_id: string
  url: string
  body: string
}

export async function startNaive(context: PeerContext): Promise<Peer> {
  const attempts = new AttemptRows(context.databaseUrl as string, {
    isGathering: false,
    connections: WORKERS + 8,
  })
  const { pool } = attempts
  await attempts.prepare()
  await pool.query(`create table bench_jobs (id uuid primary key, payment_id uuid not null,
    url text not null, body text not null, state text not null default 'pending',
    run_at timestamptz not null default now(), tries int not null default 0)`)
  await pool.query(`create index bench_jobs_due on bench_jobs (run_at) where state = 'pending'`)
  const key = createSecretKey(Buffer.from(SHARED_KEY))
  let isRunning = true

  const work = async () => {
    while (isRunning) {
      const { rows } = await pool.query<JobRow>({
        name: 'claim',
        text: `update bench_jobs set state = 'sending', tries = tries + 1 where id = (
                 select id from bench_jobs where state = 'pending' and run_at <= now()
                 order by run_at limit 1 for update skip locked)
               returning id, payment_id, url, body`,
      })
      const [row] = rows
      if (row === undefined) await delay(IDLE_MS)
      else await send(row)
    }
  }
  const send = async (row: JobRow) => {
    const status = await post(row, key)
    await attempts.write({ paymentId: row.payment_id, eventId: row.id, status })
    await pool.query({
      name: 'finish',
      text: `update bench_jobs set state = $2, run_at = now() + interval '5 s' where id = $1`,
      values: [row.id, status === 200 ? 'done' : 'pending'],
    })
  }
  const workers = Array.from({ length: WORKERS }, work)

  const insert = async (jobs: readonly Job[]) => {
    await pool.query({
      name: 'add',
      text: `insert into bench_jobs (id, payment_id, url, body)
             select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[])`,
      values: [
        jobs.map((job) => job.eventId),
        jobs.map((job) => job.paymentId),
        jobs.map((job) => job.url),
        jobs.map((job) => job.text),
      ],
    })
  }
  return {
    add: (job) => insert([job]),
    addMany: insert,
    async isSettled() {
      const { rows } = await pool.query(`select 1 from bench_jobs where state <> 'done' limit 1`)
      return rows.length === 0
    },
    async stop() {
      isRunning = false
      await Promise.all(workers)
      await attempts.close()
    },
  }
}

async function post(row: JobRow, key: ReturnType<typeof createSecretKey>): Promise<number> {
  const flat = firstHeaders(row.id, { current: key, previous: null }, [Buffer.from(row.body)])
  const headers: [string, string][] = []
  for (let at = 0; at < flat.length; at += 2) {
    headers.push([flat[at] as string, flat[at + 1] as string])
  }
  try {
    const response = await fetch(row.url, { method: 'POST', headers, body: row.body })
    await response.arrayBuffer()
    return response.status
  } catch {
    return 0
  }
}
