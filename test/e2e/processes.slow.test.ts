// `paybell serve --processes` (decisions §20): one parent and its serving processes, as real ones, with real signals.

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import { parseMetrics } from '../deploy/scrape.ts'
import { callCommand } from '../support/called-command.ts'
import { cloneDatabase } from '../support/database.ts'
import { until } from '../support/paybell.ts'
import { isRunning } from '../support/postmaster.ts'
import { startReceiver } from '../support/receiver.ts'
import {
  linesOf,
  SERVED_OPERATOR_KEY,
  type ServedLine,
  startServe,
  untilReady,
} from '../support/served.ts'

async function untilAllShardsAreShared(pool: Pool, processes: number): Promise<void> {
  await until('the shards are shared out', async () => {
    const { rows } = await pool.query<{ count: number }>(
      'select count(*)::int from leases where owner in (select id from processes) group by owner',
    )
    return rows.length === processes && rows.every(({ count }) => count === 64 / processes)
  })
}

async function ownersOf(pool: Pool): Promise<readonly string[]> {
  const { rows } = await pool.query<{ owner: string }>('select distinct owner from leases')
  return rows.map(({ owner }) => owner)
}

/** Of one that was killed its row stays, until others have seen no life in it for a whole lease. */
async function assertNothingLeft(
  pool: Pool,
  children: readonly ServedLine[],
  killed = 0,
): Promise<void> {
  for (const { pid } of children) await until(`${pid} has ended`, () => !isRunning(pid))
  const { rows } = await pool.query(
    'select (select count(*) from leases where owner is not null) as leases, (select count(*) from processes) as processes',
  )
  assert.equal(rows[0].leases, 0)
  assert.ok(rows[0].processes <= killed, `${rows[0].processes} processes`)
}

/** Between two rounds: without it they take both processors from what they look at. */
const ROUND_PAUSE_MS = 15

/** Writes, and asks whether it is ready, until it is stopped. Every request has to be answered, and none by a process that
 *  says that it stops; on a busy machine the database may be late. */
function keepAsking(t: TestContext, baseUrl: string) {
  let isStopped = false
  let answered = 0
  t.after(() => {
    isStopped = true
  })
  const headers = {
    authorization: `Bearer ${SERVED_OPERATOR_KEY}`,
    'content-type': 'application/json',
  }
  const body = JSON.stringify({ name: 'Asking' })
  const ask = async () => {
    while (!isStopped) {
      assert.doesNotMatch(await (await fetch(`${baseUrl}/readyz`)).text(), /stopping/)
      const made = await fetch(`${baseUrl}/operator/v1/clients`, { method: 'POST', headers, body })
      const text = await made.text()
      assert.ok([201, 503].includes(made.status), text)
      answered++
      await delay(ROUND_PAUSE_MS)
    }
  }
  const asking = ask()
  return {
    /** Ends early with the failure of a request. */
    failed: asking,
    untilAnswered: (count: number) =>
      Promise.race([asking, until(`${count} are answered`, () => answered >= count)]),
    async stop() {
      isStopped = true
      await asking
      return answered
    },
  }
}

test('two processes serve on one port: killed, replaced and stopped', async (t) => {
  const database = await cloneDatabase()
  // As in a container without a folder that it can write to.
  const env = { PAYBELL_DRAIN_SECONDS: '1', TMPDIR: '/nowhere' }
  const served = startServe(t, database, env, ['--processes', '2'])
  const [first, second] = await untilReady(served, 2)
  const { baseUrl } = first ?? assert.fail()
  assert.deepEqual([first?.process, second?.process], [1, 2])
  assert.equal(second?.baseUrl, baseUrl)
  assert.ok(baseUrl)

  await t.test('they share the shards, and the parent holds none', async () => {
    assert.equal((await fetch(`${baseUrl}/readyz`)).status, 200)
    await untilAllShardsAreShared(database.pool, 2)
    assert.equal(linesOf(served, 'processes.ready').length, 1)
    assert.deepEqual(linesOf(served, 'processes.not-connected'), [])
    assert.equal(linesOf(served, 'paybell.starting').length, 1, 'said by the parent, for all')
  })

  const readMetrics = async () => {
    const headers = { authorization: `Bearer ${SERVED_OPERATOR_KEY}` }
    const answer = await fetch(`${baseUrl}/metrics`, { headers })
    assert.equal(answer.status, 200)
    const series = parseMetrics(await answer.text())
    const sumOf = (metric: string) =>
      series.filter(({ name }) => name === metric).reduce((sum, { value }) => sum + value, 0)
    return {
      requests: sumOf('http_server_request_duration_seconds_count'),
      shards: sumOf('paybell_shards_held'),
    }
  }
  let counted = await readMetrics()

  await t.test('/metrics answers for both, whichever is asked', async () => {
    for (let round = 0; round < 4; round++) {
      const now = await readMetrics()
      assert.equal(now.shards, 64)
      assert.ok(now.requests > counted.requests, `${now.requests} after ${counted.requests}`)
      counted = now
    }
  })

  await t.test('one that is killed is started again under its number', async (t) => {
    const before = await ownersOf(database.pool)
    const killedAt = performance.now()
    process.kill(second?.pid ?? assert.fail(), 'SIGKILL')
    await until('none of its shards is left', async () => {
      const now = await ownersOf(database.pool)
      return before.filter((owner) => now.includes(owner)).length === 1
    })
    t.diagnostic(`its shards were taken over after ${Math.round(performance.now() - killedAt)} ms`)
    const [, , again] = await untilReady(served, 3)
    assert.equal(again?.process, 2)
    await untilAllShardsAreShared(database.pool, 2)
    assert.equal(linesOf(served, 'process.died').length, 1)
    const now = await readMetrics()
    // What it had answered since it was last asked is lost with it.
    assert.ok(now.requests >= counted.requests, `${now.requests} after ${counted.requests}`)
  })

  await t.test('SIGHUP replaces both, and every request is answered all the while', async (t) => {
    const before = linesOf(served, 'paybell.ready').length
    const asking = keepAsking(t, baseUrl)
    await asking.untilAnswered(3)
    served.process.kill('SIGHUP')
    await Promise.race([asking.failed, served.hasPrinted(/"processes\.(not-)?replaced"/)])
    t.diagnostic(`${await asking.stop()} rounds of requests`)
    assert.equal(linesOf(served, 'processes.replaced').length, 1, served.stdout())
    const ready = await untilReady(served, before + 2)
    const [one, two] = ready.slice(before)
    assert.deepEqual([one?.process, two?.process], [1, 2])
    for (const { pid } of ready.slice(0, before)) assert.ok(!isRunning(pid), `${pid} has ended`)
    assert.equal(linesOf(served, 'process.died').length, 1, 'an end that was asked for is none')
  })

  await t.test('SIGTERM stops all of them, with exit code 0', async () => {
    const ready = linesOf(served, 'paybell.ready')
    served.process.kill('SIGTERM')
    const { code, stderr } = await served.ended
    assert.equal(code, 0, stderr)
    assert.equal(stderr, '')
    await assertNothingLeft(database.pool, ready, 1)
  })
})

test('when the parent is killed its children stop in order, and none stays behind', async (t) => {
  const database = await cloneDatabase()
  const served = startServe(t, database, {
    PAYBELL_PROCESSES: '2',
    PAYBELL_DRAIN_SECONDS: '600',
  })
  const ready = await untilReady(served, 2)
  served.process.kill('SIGKILL')
  // Its output ends with the last process that could write to it.
  await served.ended
  await assertNothingLeft(database.pool, ready)
  assert.equal(linesOf(served, 'paybell.stopped').length, 2)
})

/** A program in the place of systemd's that writes down what it is asked to say. */
async function standInForSystemd(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'paybell-notify-'))
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const log = join(folder, 'log')
  await writeFile(join(folder, 'systemd-notify'), `#!/bin/sh\necho "$@" >> ${log}\n`, {
    mode: 0o755,
  })
  return {
    env: { PATH: `${folder}:${process.env.PATH}`, NOTIFY_SOCKET: '/run/notify' },
    said: async () => (await readFile(log, 'utf8')).split('\n').filter(Boolean),
  }
}

test('a second signal ends the draining of all, and a signal to all of them at once is one', async (t) => {
  const database = await cloneDatabase()
  const systemd = await standInForSystemd(t)
  const served = startServe(t, database, {
    PAYBELL_PROCESSES: '2',
    PAYBELL_DRAIN_SECONDS: '600',
    ...systemd.env,
  })
  const ready = await untilReady(served, 2)
  // As a terminal does with Ctrl-C.
  for (const { pid } of ready) process.kill(pid, 'SIGINT')
  served.process.kill('SIGINT')
  await until('both drain', () => linesOf(served, 'paybell.draining').length === 2)
  const probe = await fetch(`${ready[0]?.baseUrl}/readyz`)
  assert.equal(probe.status, 503)
  served.process.kill('SIGTERM')
  const { code, stderr } = await served.ended
  assert.equal(code, 0, stderr)
  await assertNothingLeft(database.pool, ready)
  assert.deepEqual(await systemd.said(), ['--ready', 'STOPPING=1'], 'by the parent alone')
})

test('a start that fails ends with the exit code and the one sentence of its first child', async (t) => {
  const database = await cloneDatabase()
  const taken = await startReceiver(t)
  const served = startServe(t, database, { PORT: `${taken.port}`, PAYBELL_PROCESSES: 'auto' })
  const { code, stderr } = await served.ended
  assert.equal(code, 1, stderr)
  assert.equal(stderr.trim().split('\n').length, 1, stderr)
  assert.match(stderr, new RegExp(`port ${taken.port} on 127\\.0\\.0\\.1 is taken`))
  await assertNothingLeft(database.pool, [])
})

test('numbers that are none are refused, of the option and of the setting', async () => {
  for (const text of ['0', '65', '-1', '1.5', 'many', '']) {
    const { code, stderr } = await callCommand(['serve', '--processes', text])
    assert.equal(code, 2, stderr)
    assert.match(stderr, /'--processes <n>' argument .* is invalid\. Give/)
  }
  const { code, stderr } = await callCommand(['serve'], { env: { PAYBELL_PROCESSES: '65' } })
  assert.equal(code, 2, stderr)
  assert.match(stderr, /PAYBELL_PROCESSES must be auto, or a whole number from 1 to 64/)
})
