// Upkeep: soon after the start and then every hour, and a step that fails stops no other.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pool } from 'pg'
import { pino } from 'pino'
import { cloneDatabase, readMadeAt } from '../../test/support/database.ts'
import { HandTimers } from '../../test/support/engine-parts.ts'
import { serveHttp } from '../../test/support/injected-server.ts'
import type { Owner } from '../../test/support/owner.ts'
import { until } from '../../test/support/paybell.ts'
import { hourlySteps } from './hourly-steps.ts'
import { Upkeep } from './upkeep.ts'

/** Of silent listeners, of notices, and of the seals of the audit. */
const OTHER_ROUNDS_MS = [5_000, 30_000, 60_000]
const HOUR_MS = 3_600_000

async function startUpkeep(t: Owner, pool: Pool, random = 0.5) {
  const { deps, clock } = await serveHttp(t, pool)
  clock.advance(((await readMadeAt(pool)).getTime() - clock.nowMs()) / 1_000)
  const timers = new HandTimers()
  const lines: Record<string, unknown>[] = []
  const upkeep = new Upkeep(deps, {
    logger: pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) }),
    version: '0.0.0',
    onNotices() {},
    random: () => random,
    setTimer: (ms, task) => timers.set(ms, task),
  })
  upkeep.start()
  t.after(() => upkeep.stop())
  const houseMs = () => timers.waitingMs.filter((ms) => !OTHER_ROUNDS_MS.includes(ms))
  /** Rings, and waits until the next round is set. */
  const runHourlySteps = async () => {
    timers.ring()
    const [nextMs] = await until('the next round is set', () => houseMs().length > 0 && houseMs())
    return nextMs
  }
  return { timers, lines, upkeep, houseMs, runHourlySteps }
}

test('regression: the first round comes within a minute of the start, the next an hour later', async (t) => {
  const { pool } = await cloneDatabase()
  for (const random of [0, 0.5, 0.999]) {
    const { houseMs } = await startUpkeep(t, pool, random)
    assert.equal(houseMs().length, 1)
    assert.ok((houseMs()[0] as number) > 0 && (houseMs()[0] as number) <= 60_000)
  }
  const { runHourlySteps, lines } = await startUpkeep(t, pool)
  assert.equal(await runHourlySteps(), HOUR_MS)
  assert.deepEqual(
    lines.filter(({ level }) => Number(level) > 30),
    [],
  )
})

test('F11: nothing is forgotten while the clock has just jumped ahead, and all else is done', async (t) => {
  const { pool } = await cloneDatabase()
  const { deps, clock } = await serveHttp(t, pool)
  const steps = hourlySteps(deps, { logger: pino({ level: 'silent' }), version: '0.0.0' })
  const stepOf = (name: string) => steps.find((step) => step.name === name) ?? assert.fail(name)
  const isOld = `insert into endpoint_hours values (1, gen_random_uuid(), $1, 1, 1, '{}')`
  await pool.query(isOld, [new Date(clock.nowMs())])
  clock.advance(20 * 86_400)
  clock.hasJumped = true
  for (const name of ['history', 'payments', 'audit', 'hours', 'listeners']) {
    assert.equal(await stepOf(name).work(), 'left')
  }
  assert.equal(await stepOf('partitions').work(), 'done')
  assert.equal((await pool.query('select from endpoint_hours')).rowCount, 1)
  clock.hasJumped = false
  await stepOf('hours').work()
  assert.equal((await pool.query('select from endpoint_hours')).rowCount, 0)
})

test('regression: a step that fails is named in the log, and stops no other', async (t) => {
  const { pool } = await cloneDatabase()
  await pool.query('alter table feed_origin rename to gone')
  await pool.query('drop function ensure_audit_partition')
  await pool.query(
    `insert into endpoint_hours values (1, gen_random_uuid(), now() - interval '10 days', 1, 1, '{}')`,
  )
  await pool.query(
    `drop table ${
      (
        await pool.query(`select max(inhrelid::regclass::text) as name from pg_inherits
      where inhparent = 'earlier_attempts'::regclass and inhrelid::regclass::text ~ '\\d$'`)
      ).rows[0].name
    }`,
  )
  const month = (await readMadeAt(pool)).toISOString().slice(0, 7).replace('-', '_')
  await pool.query(`drop table audit_${month}_01`)
  const { runHourlySteps, lines } = await startUpkeep(t, pool)
  // Less than an hour, because something is left to do.
  assert.equal(await runHourlySteps(), 300_000)
  // Without the feed's origin nothing can be sealed either, at a moment of its own.
  const reported = lines.filter(
    ({ level, msg }) => Number(level) > 30 && msg !== 'audit.not-sealed',
  )
  assert.deepEqual(
    reported.map(({ msg, step }) => [msg, step]),
    [
      ['partitions.left', undefined],
      ['upkeep.failed', 'feed'],
      // It marks the feed, too.
      ['upkeep.failed', 'statements'],
    ],
  )
  assert.equal((await pool.query('select from endpoint_hours')).rowCount, 0)
  const { rows } = await pool.query(
    `select count(*) as days from pg_inherits where inhparent = 'earlier_attempts'::regclass`,
  )
  assert.equal(rows[0].days, 9, 'eight days and the default')
})

test('rows that had to be moved out of a default partition leave a line', async (t) => {
  const { pool } = await cloneDatabase()
  await pool.query(
    `insert into earlier_attempts (client_key, delivery_id, attempt, at, duration_ms, outcome)
     values (1, gen_random_uuid(), 1, $1::timestamptz - interval '2 days', 1, 'answered')`,
    [await readMadeAt(pool)],
  )
  const { runHourlySteps, lines } = await startUpkeep(t, pool)
  assert.equal(await runHourlySteps(), HOUR_MS)
  const line = lines.find(({ msg }) => msg === 'partitions.rows-moved')
  assert.equal(line?.level, 40)
  assert.match(JSON.stringify(line?.moved), /"earlier_attempts_\d{4}_\d\d_\d\d","rows":1/)
})

test('when it is stopped, no round and no step begins any more', async (t) => {
  const { pool } = await cloneDatabase()
  const { timers, upkeep } = await startUpkeep(t, pool)
  await upkeep.stop()
  assert.deepEqual(timers.waitingMs, [])
})
