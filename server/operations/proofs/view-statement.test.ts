// Statements against everything that happens at the same time: transactions that stay open, outcomes that are
// recorded, replays. An hour that was said to be final never says anything else, unless it was opened by an act.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { beforeEach, test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { type MadeDelivery, StatedEndpoint } from '../../../test/support/stated-endpoint.ts'
import { untilWaiting } from '../../../test/support/stored-deliveries.ts'
import { until } from '../../../test/support/until.ts'
import { DAY_MS } from '../../core/delivery/backoff.ts'
import { digestOfIds, NO_IDS } from '../../core/proofs/ids-digest.ts'
import { HOUR_MS, SETTLING_MS, type StatementHour } from '../../core/proofs/statement.ts'
import { inTransaction } from '../../store/connection/db.ts'
import { countHours, type HourSpan } from '../../store/proofs/statement-counts.ts'
import { readStoredHours } from '../../store/proofs/statement-hours.ts'
import { Sealer } from '../../store/secrets/sealing.ts'
import { keep } from './kept-hours.ts'
import { viewAnyStatement } from './view-statement.ts'

const { pool } = await cloneDatabase({ connectionsMax: 20 })
const sealer = new Sealer([randomBytes(32)])

/** Each test has a day of its own, later than those before: time does not go back, and marks are shared. */
let day = Date.UTC(2026, 2, 2)
beforeEach(() => {
  day += 10 * DAY_MS
  theHour = day + 9 * HOUR_MS
  theSpan = { fromMs: theHour, toMs: theHour + HOUR_MS }
  within = new Date(theHour + 600_000)
  afterwards = new Date(theHour + HOUR_MS + SETTLING_MS)
})
let theHour: number
let theSpan: HourSpan
let within: Date
let afterwards: Date

function statementAt(stated: StatedEndpoint, now: Date, span = theSpan) {
  const clock = { nowMs: () => now.getTime(), monotonicMs: () => performance.now() }
  return viewAnyStatement({ pool, clock, sealer }, stated.endpoint.endpointId, span)
}

/** When the mark of now is settled: the server's own upkeep writes in transactions, too. */
async function settledStatementAt(stated: StatedEndpoint, now: Date, span = theSpan) {
  return until('it is final', async () => {
    const statement = await statementAt(stated, now, span)
    return statement.isFinal && statement
  })
}

const make = (stated: StatedEndpoint, at = within) =>
  inTransaction(pool, (db) => stated.make(db, at))

const isKept = async (stated: StatedEndpoint, fromMs = theHour) =>
  ((await readStoredHours(pool, stated.key, theSpan)).get(fromMs)?.hour ?? null) !== null

test('every fate is counted, and the digest is that of the delivered ids', async () => {
  const stated = await StatedEndpoint.create(pool)
  const made = await Promise.all(Array.from({ length: 7 }, () => make(stated)))
  const [one, two, three, exhausted, cancelled] = made as MadeDelivery[]
  const delivered = [one, two, three] as MadeDelivery[]
  for (const delivery of delivered) await stated.end(delivery, 'DELIVERED', within)
  await stated.end(exhausted as MadeDelivery, 'EXHAUSTED', within)
  await stated.cancel(cancelled as MadeDelivery, within)
  await make(stated, new Date(theHour + HOUR_MS))
  const statement = await statementAt(stated, afterwards)
  const { fromMs, toMs, hours, ...whole } = statement
  assert.deepEqual(whole, {
    endpointId: stated.endpoint.endpointId,
    isFinal: false,
    delivered: 3,
    superseded: 0,
    exhausted: 1,
    cancelled: 1,
    pending: 2,
    idsDigest: digestOfIds(delivered.map(({ eventId }) => eventId)),
  })
  assert.equal(hours.length, 1)
  assert.ok(!(await isKept(stated)))
})

test('a final hour is kept, and read instead of counted', async () => {
  const stated = await StatedEndpoint.create(pool)
  const one = await make(stated)
  await stated.end(one, 'DELIVERED', within)
  const first = await settledStatementAt(stated, afterwards)
  assert.ok(first.isFinal)
  assert.ok(await isKept(stated))
  // What is kept is what is said, even of rows that are gone.
  await pool.query('delete from final_deliveries where id = $1', [one.id])
  assert.deepEqual(await statementAt(stated, afterwards), first)
})

test('an hour without events is final too, and its digest is nought', async () => {
  const stated = await StatedEndpoint.create(pool)
  const statement = await settledStatementAt(stated, afterwards)
  assert.deepEqual([statement.isFinal, statement.idsDigest], [true, NO_IDS])
  const open = await statementAt(stated, new Date(theHour + HOUR_MS - 1))
  assert.ok(!open.isFinal, 'kept or not, an hour that is not over is open')
  const next = { fromMs: theHour + HOUR_MS, toMs: theHour + 2 * HOUR_MS }
  assert.ok(!(await statementAt(stated, afterwards, next)).isFinal, 'that hour is open')
})

test('an hour is not final while a transaction is open that had begun before its end', async () => {
  const stated = await StatedEndpoint.create(pool)
  const db = await pool.connect()
  await db.query('begin')
  const late = await stated.make(db, within)
  // Days later, and still nothing of it is seen.
  const now = new Date(afterwards.getTime() + 48 * HOUR_MS)
  for (let ask = 0; ask < 3; ask++) {
    const statement = await statementAt(stated, now)
    assert.deepEqual([statement.isFinal, statement.pending], [false, 0])
    assert.ok(!(await isKept(stated)))
  }
  await db.query('commit')
  db.release()
  await stated.end(late, 'DELIVERED', now)
  const statement = await settledStatementAt(stated, new Date(now.getTime() + HOUR_MS))
  assert.deepEqual([statement.isFinal, statement.delivered], [true, 1])
})

test('a transaction that began after the mark holds nothing back', async () => {
  const stated = await StatedEndpoint.create(pool)
  assert.ok((await settledStatementAt(stated, afterwards)).isFinal)
  const db = await pool.connect()
  await db.query('begin')
  await db.query('select pg_current_xact_id()')
  const before = { fromMs: theHour - HOUR_MS, toMs: theHour }
  // Less than a minute later no new mark is made: the settled one holds.
  assert.ok((await statementAt(stated, new Date(afterwards.getTime() + 1_000), before)).isFinal)
  await db.query('rollback')
  db.release()
})

test('a recovery opens the hour again, and what it delivers is counted as delivered', async () => {
  const stated = await StatedEndpoint.create(pool)
  const [one, two] = [await make(stated), await make(stated)]
  await stated.end(one, 'DELIVERED', within)
  await stated.end(two, 'EXHAUSTED', within)
  const first = await settledStatementAt(stated, afterwards)
  assert.deepEqual([first.isFinal, first.delivered, first.exhausted], [true, 1, 1])
  await stated.replay(two, afterwards)
  const open = await statementAt(stated, afterwards)
  assert.deepEqual([open.isFinal, open.pending, open.exhausted], [false, 1, 0])
  const later = new Date(afterwards.getTime() + HOUR_MS)
  await stated.end(two, 'DELIVERED', later)
  const last = await settledStatementAt(stated, later)
  assert.deepEqual([last.isFinal, last.delivered, last.exhausted], [true, 2, 0])
  assert.equal(last.idsDigest, digestOfIds([two.eventId, one.eventId]))
})

test('a replay of what was delivered changes no statement, whatever comes of it', async () => {
  for (const isAskedBefore of [true, false]) {
    const stated = await StatedEndpoint.create(pool)
    const one = await make(stated)
    await stated.end(one, 'DELIVERED', within)
    if (isAskedBefore) assert.ok((await settledStatementAt(stated, afterwards)).isFinal)
    await stated.replay(one, afterwards)
    const whole = { isFinal: true, delivered: 1, pending: 0, exhausted: 0 }
    const digest = digestOfIds([one.eventId])
    for (const state of ['PENDING', 'EXHAUSTED'] as const) {
      if (state === 'EXHAUSTED') await stated.end(one, state, afterwards)
      const now = new Date(afterwards.getTime() + SETTLING_MS)
      const { isFinal, delivered, pending, exhausted, idsDigest } = await settledStatementAt(
        stated,
        now,
      )
      assert.deepEqual({ isFinal, delivered, pending, exhausted }, whole, state)
      assert.equal(idsDigest, digest)
    }
  }
})

test('what was counted before a replay is not kept after it', async () => {
  const stated = await StatedEndpoint.create(pool)
  const one = await make(stated)
  await stated.end(one, 'EXHAUSTED', within)
  // A mark, settled; and the hour is opened once, so that there is a row.
  await settledStatementAt(stated, afterwards, { fromMs: theHour - HOUR_MS, toMs: theHour })
  const { hours, place } = await countHours(pool, stated.key, theSpan, afterwards)
  const final = (hours ?? []).filter(({ isFinal }) => isFinal)
  assert.equal(final.length, 1)
  const keepCounted = () => keep({ pool, sealer }, stated.key, { hours: final, place }, new Map())

  // The replay has not committed when the hour is to be kept: keeping waits for it.
  let commit = () => {}
  const held = new Promise<void>((resolve) => {
    commit = resolve
  })
  let isMoved = () => {}
  const moved = new Promise<void>((resolve) => {
    isMoved = resolve
  })
  const replaying = stated.replay(one, afterwards, () => {
    isMoved()
    return held
  })
  await moved
  const keeping = keepCounted()
  await untilWaiting(pool, 'insert into statement_hours')
  commit()
  await Promise.all([replaying, keeping])
  assert.ok(!(await isKept(stated)))
  // Or it has committed before.
  await keepCounted()
  assert.ok(!(await isKept(stated)))
})

test('an hour of which deliveries are no longer kept is refused, unless it was kept itself', async (t) => {
  const stated = await StatedEndpoint.create(pool)
  await settledStatementAt(stated, afterwards)
  await pool.query('update feed_origin set ended_since = $1', [afterwards])
  t.after(() => pool.query("update feed_origin set ended_since = '-infinity'"))
  assert.ok((await statementAt(stated, afterwards)).isFinal)
  const longer = { fromMs: theHour - HOUR_MS, toMs: theSpan.toMs }
  await assert.rejects(
    statementAt(stated, afterwards, longer),
    (error: Error & { errors?: unknown }) => {
      assert.match(JSON.stringify(error.errors), /no-longer-kept.*T10:10:00.000Z/)
      return true
    },
  )
})

/** What a statement said of an hour that it called final, and how often the hour had been opened by then. */
interface Claim {
  hour: StatementHour
  acts: number
}

test('writers, ends, replays and askers at once: what was final stays as it was said', async () => {
  const stated = await StatedEndpoint.create(pool)
  const first = theHour
  let nowMs = first
  const now = () => new Date(nowMs)
  const roll = (below: number) => Math.floor(Math.random() * below)
  /** Some round trips, and no time: on a busy machine they take longer as all that happens beside them does. */
  const pause = async (tripsBelow: number) => {
    for (let trips = roll(tripsBelow); trips > 0; trips--) await pool.query('select')
  }
  const made: MadeDelivery[] = []
  const owed: MadeDelivery[] = []
  const acts = new Map<number, number>()
  const acting = new Map<number, number>()
  const claims = new Map<number, Claim>()
  const hourOf = ({ id }: MadeDelivery) => {
    const ms = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
    return Math.floor(ms / HOUR_MS) * HOUR_MS
  }
  const add = (map: Map<number, number>, hour: number, by: number) =>
    map.set(hour, (map.get(hour) ?? 0) + by)
  // What is owed may have ended before: then ending it does nothing.
  let isWriting = true

  // Each turns the clock a little: transactions stay open over the end of an hour and of its settling.
  const write = async () => {
    // On a busy machine it takes longer until some hours were final.
    for (let turn = 0; turn < 60 || (claims.size <= 3 && turn < 1_000); turn++) {
      // Four write and two end: where queries are slow, the ends fall behind, and no hour would ever be final.
      while (owed.length > 20) await pause(4)
      nowMs += roll(SETTLING_MS)
      const db = await pool.connect()
      await db.query('begin')
      const one = await stated.make(db, now())
      await pause(10)
      const isKeptBack = roll(5) === 0
      await db.query(isKeptBack ? 'rollback' : 'commit')
      db.release()
      if (isKeptBack) continue
      made.push(one)
      owed.push(one)
    }
  }
  const end = async () => {
    while (isWriting) {
      const [one] = owed.splice(roll(owed.length), 1)
      if (one) {
        const fate = roll(4)
        if (fate === 0) await stated.cancel(one, now())
        else await stated.end(one, fate === 1 ? 'EXHAUSTED' : 'DELIVERED', now())
      }
      await pause(3)
    }
  }
  const replay = async () => {
    while (isWriting) {
      const one = made[roll(made.length)]
      if (one && roll(4) === 0) {
        const hour = hourOf(one)
        add(acts, hour, 1)
        add(acting, hour, 1)
        await stated.replay(one, now(), () => pause(6))
        add(acting, hour, -1)
        owed.push(one)
      }
      await pause(6)
    }
  }
  const ask = async () => {
    while (isWriting) {
      const toMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS + HOUR_MS
      const span = { fromMs: Math.max(first, toMs - 12 * HOUR_MS), toMs }
      const before = new Map(acts)
      const said = new Map(claims)
      const isActing = new Set([...acting].flatMap(([hour, count]) => (count > 0 ? [hour] : [])))
      const { hours } = await statementAt(stated, now(), span)
      for (const hour of hours) {
        const { fromMs } = hour
        const isDisturbed = isActing.has(fromMs) || before.get(fromMs) !== acts.get(fromMs)
        if (isDisturbed) continue
        const claim = said.get(fromMs)
        if (claim && claim.acts === (acts.get(fromMs) ?? 0)) assert.deepEqual(hour, claim.hour)
        else if (hour.isFinal) claims.set(fromMs, { hour, acts: acts.get(fromMs) ?? 0 })
      }
      await pause(4)
    }
  }
  const others = [end(), end(), replay(), ask(), ask()]
  await Promise.all([write(), write(), write(), write()])
  isWriting = false
  await Promise.all(others)
  assert.ok(claims.size > 3, 'some hours were final on the way')

  // All is delivered at last: the statement and the tables agree, hour by hour.
  nowMs += HOUR_MS
  for (const one of made) {
    await stated.replay(one, now())
    await stated.end(one, 'DELIVERED', now())
  }
  const toMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS + HOUR_MS
  nowMs = toMs + SETTLING_MS
  const whole = await settledStatementAt(stated, now(), { fromMs: first, toMs })
  assert.deepEqual([whole.isFinal, whole.delivered], [true, made.length])
  assert.equal(whole.idsDigest, digestOfIds(made.map(({ eventId }) => eventId)))
  for (const { fromMs, delivered, idsDigest } of whole.hours) {
    const stored = await stated.delivered(fromMs, fromMs + HOUR_MS)
    assert.deepEqual({ delivered, idsDigest }, stored)
  }
})

test('regression: hours that cannot be counted together in time are counted apart', async () => {
  const stated = await StatedEndpoint.create(pool)
  const one = await make(stated)
  await stated.end(one, 'DELIVERED', within)
  // As a database does in which two hours take longer than a statement may.
  let brokenOff = 0
  const slow = Object.assign(Object.create(pool) as typeof pool, {
    query: pool.query.bind(pool),
    async connect() {
      const client = await pool.connect()
      const query = (config: { values?: unknown[] }, values?: unknown[]) => {
        const bounds = config.values?.[4]
        // Of an array as it goes to PostgreSQL, the number of elements.
        if (!Buffer.isBuffer(bounds) || bounds.readInt32BE(12) < 3)
          return client.query(config as never, values)
        brokenOff++
        return Promise.reject(Object.assign(new Error('canceled'), { code: '57014' }))
      }
      return { query, release: client.release.bind(client) }
    },
  })
  const span = { fromMs: day, toMs: day + 24 * HOUR_MS }
  const clock = { nowMs: () => day + 2 * DAY_MS, monotonicMs: () => performance.now() }
  const statement = await viewAnyStatement(
    { pool: slow, clock, sealer },
    stated.endpoint.endpointId,
    span,
  )
  assert.deepEqual([statement.delivered, statement.hours.length], [1, 24])
  assert.ok(brokenOff > 0)
})
