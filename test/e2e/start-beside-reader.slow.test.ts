// A process that starts while a backup reads everything: it becomes ready, and those that run go on
// accepting as if nothing was there.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { startCommand } from '../support/command-line.ts'
import { startPaybell } from '../support/paybell.ts'

test('regression: a process that starts during a backup stops acceptance nowhere', async (t) => {
  const healthy = await startPaybell(t)
  const { pool } = healthy
  // As on every day after midnight: the last of the days ahead is not there yet.
  const { rows } = await pool.query<{ day: string }>(
    `select max(substring(inhrelid::regclass::text from '\\d{4}_\\d\\d_\\d\\d')) as day
     from pg_inherits where inhparent = 'events'::regclass`,
  )
  const day = rows[0]?.day
  await pool.query(`drop table events_${day}, final_deliveries_${day}, earlier_attempts_${day}`)
  const backup = await pool.connect()
  t.after(() => backup.release(true))
  await backup.query('begin')
  await backup.query('lock table events, final_deliveries, earlier_attempts in access share mode')

  const second = startCommand(t, ['serve'], {
    env: {
      PORT: '0',
      DATABASE_URL: healthy.database.url,
      PAYBELL_MASTER_KEY: healthy.masterKey.toString('base64'),
      PAYBELL_OPERATOR_KEY: healthy.operatorKey,
    },
  })
  let isReady = false
  const ready = second.hasPrinted(/paybell\.ready/, 60_000).then(() => {
    isReady = true
  })
  const statuses: number[] = []
  while (!isReady) {
    const id = randomUUID()
    const { status } = await healthy.caller.putSample(id)
    statuses.push(status)
    // Fails at once with what it has printed, if it gives up.
    if (status !== 201) break
  }
  await ready
  assert.ok(statuses.length > 0)
  assert.deepEqual(
    statuses.filter((status) => status !== 201),
    [],
  )
  assert.match(second.stdout(), /"partitions\.left"/)
  assert.match(second.stdout(), new RegExp(`events_${day}`))
})
