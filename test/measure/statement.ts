// npm run measure:statement -- [deliveries]. Fills a database with a month of one endpoint's deliveries, ten million
// by default, and times its statement of 31 days: counted for the first time, and read again from the hours that are
// kept; with the rows of both and the time of the database's process. Not part of the tests: it takes minutes.

import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { DAY_MS } from '../../server/core/delivery/backoff.ts'
import { HOUR_MS, hourStartMs } from '../../server/core/proofs/statement.ts'
import { viewAnyStatement } from '../../server/operations/proofs/view-statement.ts'
import { createPool } from '../../server/store/connection/db.ts'
import { ensurePartitions } from '../../server/store/schema/partitions.ts'
import { Sealer } from '../../server/store/secrets/sealing.ts'
import { readArguments, toCount } from '../support/number-arguments.ts'
import { storeClient, storeEndpoint } from '../support/stored-deliveries.ts'
import { databaseUrl, onServer, startTestServer, TEMPLATE } from '../support/test-server.ts'

const deliveries = readArguments(() => toCount('deliveries', process.argv[2] ?? '10000000'))
const DAYS = 31

const server = await startTestServer()
try {
  await onServer(server.url, (db) => db.query(`create database measured template ${TEMPLATE}`))
  await measure(databaseUrl(server.url, 'measured'))
} finally {
  await server.stop()
}

async function measure(url: string): Promise<void> {
  const pool = createPool({
    url,
    connectionsMax: 3,
    onIdleError: () => {},
    applicationName: 'measure statement',
    statementTimeoutMs: 300_000,
  })
  const toMs = hourStartMs(Date.now()) - HOUR_MS
  const fromMs = toMs - DAYS * DAY_MS
  for (let day = 0; day <= DAYS + 1; day++) {
    await ensurePartitions(pool, new Date(fromMs + day * DAY_MS))
  }
  const { clientKey, accountId } = await storeClient(pool)
  const { endpointId } = await storeEndpoint(pool, clientKey)
  let startedAt = performance.now()
  const perDay = Math.ceil(deliveries / DAYS)
  for (let day = 0; day < DAYS; day++) {
    await fillDay(day)
    await pool.query('analyze final_deliveries')
  }
  console.log(`${perDay * DAYS} deliveries stored in ${seconds(startedAt)} s`)

  const clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() }
  const sealer = new Sealer([randomBytes(32)])
  const ask = async () => {
    for (let calls = 1; ; calls++) {
      try {
        return {
          calls,
          ...(await viewAnyStatement({ pool, clock, sealer }, endpointId, { fromMs, toMs })),
        }
      } catch (error) {
        if ((error as { code?: string }).code !== 'overloaded') throw error
      }
    }
  }
  for (const what of ['counted', 'kept', 'kept', 'kept']) {
    const cpuBefore = await cpuOfServer()
    const ownBefore = process.cpuUsage()
    startedAt = performance.now()
    const { calls, delivered, exhausted, isFinal, hours } = await ask()
    const tookMs = Math.round(performance.now() - startedAt)
    const own = process.cpuUsage(ownBefore)
    const ownMs = Math.round((own.user + own.system) / 1_000)
    const databaseMs = (await cpuOfServer()) - cpuBefore
    const facts = { what, calls, tookMs, databaseMs, ownMs, delivered, exhausted, isFinal }
    console.log(JSON.stringify({ ...facts, hours: hours.length }))
  }
  const { rows } = await pool.query(
    `select count(*) as rows, pg_relation_size('statement_hours') as bytes from statement_hours`,
  )
  console.log(JSON.stringify(rows[0]))
  await pool.end()

  /** One of 200 is exhausted, as of a receiver that refuses some. */
  function fillDay(day: number): Promise<unknown> {
    const startMs = fromMs + day * DAY_MS
    const id = `(left(lpad(to_hex(ms), 12, '0'), 8) || '-' || right(lpad(to_hex(ms), 12, '0'), 4) || '-7000-8'
      || substr(r, 1, 3) || '-' || substr(r, 4, 12))::uuid`
    return pool.query(
      `insert into final_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id,
         sequence, kind, created_at, state, attempts, deadline_at, finished_at, last_outcome, last_status,
         attempted_at, duration_ms)
       select $1, ${id}, ${id.replaceAll('substr(r, 4, 12)', 'substr(r, 16, 12)')}, $2,
         gen_random_uuid(), $3, 1, 'payment.created', at, state, 1, at,
         at + interval '1 s', 'answered', case when state = 'DELIVERED' then 200 else 503 end,
         case when state = 'DELIVERED' then at end, case when state = 'DELIVERED' then 12 end
       from (select $4::bigint + (n * $5::float8)::bigint as ms, md5(n::text || $4) as r,
               to_timestamp(($4::bigint + (n * $5::float8)::bigint) / 1000.0) as at,
               case when n % 200 = 0 then 'EXHAUSTED' else 'DELIVERED' end as state
             from generate_series(0, $6::int - 1) as n offset 0) as made`,
      [clientKey, endpointId, accountId, startMs, DAY_MS / perDay, perDay],
    )
  }

  /** The milliseconds of processor time that the database's sessions of this pool have taken. */
  async function cpuOfServer(): Promise<number> {
    const { rows } = await pool.query<{ pid: number }>(
      `select pid from pg_stat_activity where application_name = 'measure statement'`,
    )
    let ticks = 0
    for (const { pid } of rows) {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      ticks += Number(fields[11]) + Number(fields[12])
    }
    return ticks * 10
  }
}

function seconds(sinceMs: number): number {
  return Math.round((performance.now() - sinceMs) / 1_000)
}
