// Statements under clocks that are wrong: no clock makes an hour final that is still open, and an event that a clock
// has dated into an hour which was kept opens it again.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { Pool } from 'pg'
import { cloneDatabase } from '../../../test/support/database.ts'
import { type MadeDelivery, StatedEndpoint } from '../../../test/support/stated-endpoint.ts'
import { until } from '../../../test/support/until.ts'
import { DAY_MS } from '../../core/delivery/backoff.ts'
import { uuidFloor } from '../../core/plain/uuid.ts'
import { HOUR_MS, SETTLING_MS } from '../../core/proofs/statement.ts'
import { inTransaction } from '../../store/connection/db.ts'
import { raiseFeed } from '../../store/moves/move-rows.ts'
import { markFeed } from '../../store/proofs/feed-marks.ts'
import { Sealer } from '../../store/secrets/sealing.ts'
import { readKept } from './kept-hours.ts'
import { viewAnyStatement } from './view-statement.ts'

const MINUTE_MS = 60_000
/** In the middle of an hour that is open. */
const NOW = Date.UTC(2026, 3, 7, 9, 26)
const OPEN = Date.UTC(2026, 3, 7, 9)

class WrongClock {
  aheadMs = 0
  hasJumped = false
  trueMs = NOW

  nowMs(): number {
    return this.trueMs + this.aheadMs
  }

  monotonicMs(): number {
    return performance.now()
  }
}

async function start() {
  const { pool } = await cloneDatabase()
  const clock = new WrongClock()
  const sealer = new Sealer([randomBytes(32)])
  const stated = await StatedEndpoint.create(pool)
  const deps = { pool, clock, sealer }
  const make = (atMs = clock.nowMs()) =>
    inTransaction(pool, (db) => stated.make(db, new Date(atMs)))
  const deliver = async (count: number, atMs = clock.nowMs()) => {
    const made: MadeDelivery[] = []
    for (let one = 0; one < count; one++) {
      const delivery = await make(atMs)
      await stated.end(delivery, 'DELIVERED', new Date(clock.nowMs()))
      made.push(delivery)
    }
    return made
  }
  const ask = async (fromMs = OPEN) => {
    const span = { fromMs, toMs: fromMs + HOUR_MS }
    const { isFinal, delivered, pending } = await viewAnyStatement(deps, stated.key.id, span)
    return { isFinal, owed: delivered + pending }
  }
  /** When the mark of now is settled: the server's own upkeep writes in transactions, too. */
  const askUntilFinal = (fromMs = OPEN) =>
    until('it is final', async () => {
      const said = await ask(fromMs)
      return said.isFinal && said
    })
  const keptRows = async () => {
    const { rows } = await pool.query<{ count: number }>(
      'select count(*) as count from statement_hours where delivered is not null',
    )
    return rows[0]?.count
  }
  return { pool, clock, stated, deps, make, deliver, ask, askUntilFinal, keptRows }
}

/** The whole hour is over, and has settled. */
const SETTLED = OPEN + HOUR_MS + SETTLING_MS

test('regression: an hour that is asked for while the clock has jumped ahead is neither final nor kept', async () => {
  const { pool, clock, deliver, ask, askUntilFinal, keptRows } = await start()
  await deliver(5)
  clock.aheadMs = 2 * HOUR_MS
  clock.hasJumped = true
  for (let times = 0; times < 3; times++) {
    assert.deepEqual(await ask(), { isFinal: false, owed: 5 })
  }
  assert.equal(await keptRows(), 0)
  assert.equal((await pool.query('select from feed_marks')).rowCount, 0, 'no mark of that time')
  clock.aheadMs = 0
  await deliver(10)
  assert.deepEqual(await ask(), { isFinal: false, owed: 15 })
  clock.hasJumped = false
  clock.trueMs = SETTLED
  assert.deepEqual(await askUntilFinal(), { isFinal: true, owed: 15 })
})

test('regression: a mark of a time that has not come settles nothing, and is removed', async () => {
  const { pool, clock, deliver, ask, askUntilFinal } = await start()
  await deliver(10)
  // As upkeep does, unasked; of 8 days, if the clock was that wrong.
  for (const aheadMs of [2 * HOUR_MS, 8 * DAY_MS]) await markFeed(pool, new Date(NOW + aheadMs))
  for (let times = 0; times < 3; times++) {
    assert.deepEqual(await ask(), { isFinal: false, owed: 10 })
  }
  const { rows } = await pool.query('select at from feed_marks order by at desc')
  assert.deepEqual(rows, [{ at: new Date(NOW) }])
  await deliver(5)
  assert.deepEqual(await ask(), { isFinal: false, owed: 15 })
  clock.trueMs = SETTLED
  assert.deepEqual(await askUntilFinal(), { isFinal: true, owed: 15 })
})

test('regression: an hour that was kept by a clock which was long ahead is open when the clock is right', async () => {
  const { clock, deliver, ask, askUntilFinal, keptRows } = await start()
  await deliver(5)
  // For longer than a jump is doubted: nothing tells it from the time.
  clock.aheadMs = 2 * HOUR_MS
  assert.deepEqual(await askUntilFinal(), { isFinal: true, owed: 5 })
  assert.equal(await keptRows(), 1)
  clock.aheadMs = 0
  assert.deepEqual(await ask(), { isFinal: false, owed: 5 }, 'it is open again')
  await deliver(10)
  assert.deepEqual(await ask(), { isFinal: false, owed: 15 })
  // And it stays so when the clock is wrong once more, or right.
  for (const aheadMs of [2 * HOUR_MS, 0]) {
    clock.aheadMs = aheadMs
    assert.equal((await ask()).owed, 15)
  }
  clock.trueMs = SETTLED
  assert.deepEqual(await askUntilFinal(), { isFinal: true, owed: 15 })
})

for (const [name, backMs] of [
  ['an hour', HOUR_MS],
  ['three days', 3 * DAY_MS],
  ['three weeks', 21 * DAY_MS],
] as const) {
  test(`regression: an event that a clock which went back by ${name} has dated opens its hour again`, async () => {
    const { clock, deliver, ask, askUntilFinal } = await start()
    const hour = OPEN - backMs
    await deliver(3, hour + 60_000)
    clock.trueMs = SETTLED
    assert.deepEqual(await askUntilFinal(hour), { isFinal: true, owed: 3 })
    // A fail-over to a server whose clock is behind, and back: what it accepted is in that hour for good.
    clock.aheadMs = -backMs - SETTLING_MS - HOUR_MS / 2
    assert.ok(!(await ask(hour)).isFinal)
    await deliver(4)
    assert.ok(!(await ask(hour)).isFinal)
    clock.aheadMs = 0
    assert.equal((await ask(hour)).owed, 7)
    assert.deepEqual(await askUntilFinal(hour), { isFinal: true, owed: 7 })
    assert.deepEqual(await ask(hour), { isFinal: true, owed: 7 })
  })
}

test('regression: what another process with a clock behind accepts, pending or delivered, is in the next statement', async () => {
  const { clock, make, stated, deliver, ask, askUntilFinal } = await start()
  await deliver(1)
  clock.trueMs = SETTLED
  assert.deepEqual(await askUntilFinal(), { isFinal: true, owed: 1 })
  const late = await make(OPEN + 1_000)
  assert.deepEqual(await ask(), { isFinal: false, owed: 2 })
  await stated.end(late, 'DELIVERED', new Date(clock.nowMs()))
  assert.deepEqual(await askUntilFinal(), { isFinal: true, owed: 2 })
})

test('regression: a transaction that was open when its hour was kept opens it with its commit', async () => {
  const { pool, clock, stated, deliver, ask, askUntilFinal } = await start()
  await deliver(1)
  clock.trueMs = SETTLED
  // A mark that a wrong clock made before the transaction began, and whose time has come since.
  await pool.query('insert into feed_marks (at, place) values ($1, 0)', [new Date(SETTLED)])
  const db = await pool.connect()
  await db.query('begin')
  const open = await stated.make(db, new Date(OPEN + 1_000))
  assert.deepEqual(await ask(), { isFinal: true, owed: 1 }, 'as the mark makes believe')
  await db.query('commit')
  db.release()
  assert.deepEqual(await ask(), { isFinal: false, owed: 2 })
  await stated.end(open, 'DELIVERED', new Date(SETTLED))
  assert.deepEqual(await askUntilFinal(), { isFinal: true, owed: 2 })
})

test('regression: a late event is found after the places of the feed were raised, as by a restore or a move', async () => {
  const { pool, clock, deliver, ask, askUntilFinal } = await start()
  await deliver(1)
  clock.trueMs = SETTLED
  await askUntilFinal()
  await inTransaction(pool, (db) => raiseFeed(db, 2n ** 41n))
  assert.deepEqual(await ask(), { isFinal: true, owed: 1 })
  await deliver(1, OPEN + 1_000)
  assert.equal((await ask()).owed, 2)
})

test('regression: an event that was dated days ahead, and delivered when the clock was right, is counted in its hour', async () => {
  const { clock, make, stated, askUntilFinal } = await start()
  const future = await make(OPEN + 8 * DAY_MS + 1_000)
  await stated.end(future, 'DELIVERED', new Date(clock.nowMs()))
  clock.trueMs = SETTLED + 8 * DAY_MS
  assert.deepEqual(await askUntilFinal(OPEN + 8 * DAY_MS), { isFinal: true, owed: 1 })
})

/** More events of the client than are looked through lightly, owed to no one. */
async function fillDay(pool: Pool, clientKey: number, atMs: number): Promise<void> {
  await pool.query(
    `insert into events (client_key, id, payment_id, account_id, sequence, kind, text, created_at)
     select $1, (left($2, 14) || '7' || lpad(to_hex(n), 3, '0') || right($2, 18))::uuid,
       gen_random_uuid(), gen_random_uuid(), 1, 'payment.created', '{}', $3
     from generate_series(1, 1200) n`,
    [clientKey, uuidFloor(atMs), new Date(atMs)],
  )
}

test('a kept hour of a busy day is looked through once, and stays what it was', async () => {
  const { pool, clock, stated, deliver, ask, askUntilFinal } = await start()
  await deliver(1)
  clock.trueMs = SETTLED
  await askUntilFinal()
  const placeOf = async () =>
    (await pool.query('select place::text from statement_hours')).rows[0].place as string
  const before = await placeOf()
  await fillDay(pool, stated.key.clientKey, OPEN + 2 * HOUR_MS)
  assert.deepEqual(await ask(), { isFinal: true, owed: 1 })
  // As soon as no older transaction is open anywhere on the server.
  const after = await until('the next look begins later', async () => {
    await ask()
    const place = await placeOf()
    return BigInt(place) > BigInt(before) && place
  })
  assert.deepEqual(await ask(), { isFinal: true, owed: 1 })
  assert.ok(BigInt(await placeOf()) >= BigInt(after))
  await deliver(1, OPEN + 1_000)
  assert.equal((await ask()).owed, 2)
})

test('days that there is no time to look through are left to the next call, which goes on from there', async () => {
  const { pool, clock, deps, stated, deliver, askUntilFinal } = await start()
  const days = [OPEN, OPEN + DAY_MS]
  for (const hour of days) {
    clock.trueMs = hour + 26 * MINUTE_MS
    await deliver(1)
    clock.trueMs = hour + HOUR_MS + SETTLING_MS
    await askUntilFinal(hour)
  }
  for (const hour of days) await fillDay(pool, stated.key.clientKey, hour + 2 * HOUR_MS)
  // Every look at this clock finds that more than the time is over.
  let monotonicMs = 0
  const hurried = {
    nowMs: () => clock.nowMs(),
    monotonicMs: () => {
      monotonicMs += 11_000
      return monotonicMs
    },
  }
  const span = { fromMs: OPEN, toMs: OPEN + DAY_MS + HOUR_MS }
  const kept = () => readKept({ ...deps, clock: hurried }, stated.key, span)
  const first = await kept()
  assert.equal(first.isWhole, false)
  // A transaction that is open anywhere on the server keeps what was counted since from being seen as settled.
  const whole = await until('the other day is looked through', async () => {
    const next = await kept()
    return next.isWhole && next
  })
  assert.equal(whole.hours.size, 2)
})
