// `paybell serve`, started and stopped: real processes, a real busy port, and what they leave in the
// database. A process that does not serve must not hold a shard.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Pool } from 'pg'
import { cloneDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/paybell.ts'
import { startReceiver } from '../support/receiver.ts'
import { SERVED_OPERATOR_KEY, startServe, untilServed } from '../support/served.ts'

async function assertNothingHeld(pool: Pool): Promise<void> {
  const { rows } = await pool.query(
    'select (select count(*) from leases where owner is not null) as leases, (select count(*) from processes) as processes',
  )
  assert.deepEqual(rows, [{ leases: 0, processes: 0 }])
}

/** Fails instead of waiting for a process that never ends. */
async function untilEnded<T extends object>(ended: Promise<T>): Promise<T> {
  let end: T | undefined
  void ended.then((one) => {
    end = one
  })
  return until('the process has ended', () => end, 60_000)
}

describe('serve', { concurrency: 2 }, () => {
  // The operator's port is the second that it opens. A sandbox is tried with the first one taken.
  test('regression: with a port taken it ends with 1 and a sentence, and holds no shard', async (t) => {
    const database = await cloneDatabase()
    const taken = await startReceiver(t)
    const served = startServe(t, database, { PAYBELL_OPERATOR_PORT: `${taken.port}` })
    const { code, stderr } = await untilEnded(served.ended)
    assert.equal(code, 1, stderr)
    assert.equal(stderr.trim().split('\n').length, 1, stderr)
    assert.match(stderr, new RegExp(`port ${taken.port} on 127\\.0\\.0\\.1 is taken`))
    assert.match(stderr, /with PAYBELL_OPERATOR_PORT\b/)
    await assertNothingHeld(database.pool)
  })

  test('regression: a signal ends it with 0 while it still waits for its database', async (t) => {
    const database = await cloneDatabase()
    const holder = await database.pool.connect()
    await holder.query('begin; lock table migrations in access exclusive mode')
    try {
      const served = startServe(t, database)
      await until('it waits', () => isWaiting(database.pool, 'paybell migrate'))
      served.process.kill('SIGTERM')
      const { code, stderr } = await untilEnded(served.ended)
      assert.equal(code, 0, stderr)
    } finally {
      await holder.query('rollback')
      holder.release()
    }
    await assertNothingHeld(database.pool)
  })

  test('a signal ends it with 0 while it takes its first shards', async (t) => {
    const database = await cloneDatabase()
    const holder = await database.pool.connect()
    await holder.query('begin; lock table leases in access exclusive mode')
    const served = startServe(t, database, { PORT: `${await freePort()}` })
    try {
      await until('it waits', () => isWaiting(database.pool, 'paybell'))
      served.process.kill('SIGINT')
      await served.hasPrinted(/paybell\.stopping/)
    } finally {
      await holder.query('rollback')
      holder.release()
    }
    const { code, stdout } = await untilEnded(served.ended)
    assert.equal(code, 0, stdout)
    assert.doesNotMatch(stdout, /server\.listening/, 'it takes no more connections')
    await assertNothingHeld(database.pool)
  })

  test('it serves, warns of a misspelt setting, and ends with 0 when its time of draining is over', async (t) => {
    const database = await cloneDatabase()
    const served = startServe(t, database, {
      PAYBELL_ALOWED_NETWORKS: 'a-canary',
      PAYBELL_DRAIN_SECONDS: '1',
    })
    const baseUrl = await untilServed(served)
    assert.equal((await fetch(`${baseUrl}/readyz`)).status, 200)
    assert.match(
      served.stdout(),
      /"level":40.*PAYBELL_ALOWED_NETWORKS is not a setting and has no effect\. Did you mean PAYBELL_ALLOWED_NETWORKS\?/,
    )
    served.process.kill('SIGTERM')
    const { code, stdout, stderr } = await untilEnded(served.ended)
    assert.equal(code, 0, stderr)
    assert.match(stdout, /"seconds":1,"msg":"paybell\.draining"/)
    assert.match(stdout, /paybell\.stopped/)
    assert.doesNotMatch(stdout + stderr, /canary/, 'never its value')
    await assertNothingHeld(database.pool)
  })
})

test('regression: after a signal it says that it is not ready and serves on, until its time or a second signal', async (t) => {
  const database = await cloneDatabase()
  const served = startServe(t, database, { PAYBELL_DRAIN_SECONDS: '600' })
  const baseUrl = await untilServed(served)
  served.process.kill('SIGTERM')
  await served.hasPrinted(/paybell\.draining/)
  const probe = await fetch(`${baseUrl}/readyz`)
  assert.equal(probe.status, 503)
  const { reasons } = (await probe.json()) as { reasons: string[] }
  assert.deepEqual(reasons, ['The service is stopping.'])
  assert.equal((await fetch(`${baseUrl}/livez`)).status, 200)

  const headers = { authorization: `Bearer ${SERVED_OPERATOR_KEY}` }
  const onboarded = await fetch(`${baseUrl}/operator/v1/clients`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Late' }),
  })
  assert.equal(onboarded.status, 201, 'what comes all the same is answered')
  assert.equal(onboarded.headers.get('connection'), 'close')
  const metrics = await fetch(`${baseUrl}/metrics`, { headers })
  assert.match(await metrics.text(), /^paybell_ready 0$/m)
  const { rows } = await database.pool.query('select from leases where owner is not null')
  assert.equal(rows.length, 64, 'it still sends')

  served.process.kill('SIGTERM')
  const { code, stderr } = await untilEnded(served.ended)
  assert.equal(code, 0, stderr)
  await assertNothingHeld(database.pool)
})

async function isWaiting(pool: Pool, applicationName: string): Promise<boolean> {
  const { rows } = await pool.query(
    `select from pg_stat_activity where datname = current_database() and application_name = $1
       and wait_event_type = 'Lock'`,
    [applicationName],
  )
  return rows.length > 0
}
