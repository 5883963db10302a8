// Sealing: in the order of commit, once, and by one process at a time.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test from 'node:test'
import type { Pool, QueryResult } from 'pg'
import { nothingIsHeldBack, startSealedAudit } from '../../../test/support/sealed-audit.ts'
import { AuditChecker } from '../../core/proofs/audit-check.ts'
import { inTransaction } from '../../store/connection/db.ts'
import { raiseFeed } from '../../store/moves/move-rows.ts'
import { tryLockSealing } from '../../store/proofs/audit-segments.ts'
import { insertAudit } from '../../store/proofs/audit-table.ts'
import { carryFeedOver } from '../../store/schema/feed-origin.ts'
import { sealAudit } from './seal-audit.ts'
import { checkDatabaseAudit, readDatabaseSealKeys } from './verify-audit.ts'
import { exportAudit, viewSealHead } from './view-audit-seal.ts'

async function objectsOf(lines: AsyncIterable<string>): Promise<string[][]> {
  const segments: string[][] = [[]]
  for await (const text of lines) {
    for (const line of text.trimEnd().split('\n')) {
      const item = JSON.parse(line)
      if ('segment' in item) segments.push([])
      else segments.at(-1)?.push(item.object)
    }
  }
  return segments.slice(0, -1)
}

const EVERYTHING = { from: null, to: null }

test('what was audited is sealed in segments that continue each other', async (t) => {
  const sealed = await startSealedAudit(t)
  assert.deepEqual(await objectsOf(exportAudit(sealed.deps, EVERYTHING)), [])
  await assert.rejects(viewSealHead(sealed.deps), /Nothing is sealed yet/)
  for (const object of ['a', 'b', 'c!', 'd', 'e']) await sealed.audit(object)
  await sealed.seal(2)
  await sealed.audit('f')
  await sealed.seal()
  const segments = await objectsOf(exportAudit(sealed.deps, EVERYTHING))
  assert.deepEqual(segments.flat(), ['a', 'b', 'c!', 'd', 'e', 'f'])
  assert.ok(segments.length >= 4 && segments.every(({ length }) => length <= 2))
  const { head, sealedThrough } = await viewSealHead(sealed.deps)
  assert.equal(head.segment, segments.length)
  assert.equal(sealedThrough?.getTime(), sealed.clock.nowMs())
  const checker = new AuditChecker(await readDatabaseSealKeys(sealed.deps))
  const { finding, checked } = await checkDatabaseAudit(sealed.deps, checker, 0)
  assert.equal(finding, null)
  assert.deepEqual([checked.rows, checked.segments, checked.head], [6, head.segment, head.digest])
})

test('regression: a segment is read in steps, which neither lose, repeat nor split what one transaction wrote', async (t) => {
  const sealed = await startSealedAudit(t)
  const { pool, clock } = sealed
  const entry = (object: string) => ({
    ...{ actor: 'operator', action: 'payment.put', object },
    ...{ requestId: randomUUID(), at: new Date(clock.nowMs()) },
  })
  for (const objects of [
    ['a'],
    ['b1', 'b2', 'b3', 'b4', 'b5'],
    ['c'],
    ['d1', 'd2'],
    ['e'],
    ['f'],
  ]) {
    await insertAudit(pool, objects.map(entry))
  }
  clock.advance(60)
  await nothingIsHeldBack(pool)
  const answers: number[] = []
  const counted = notingAnswers(pool, answers)
  await sealAudit({ ...sealed.deps, pool: counted }, { readAtOnce: 2, rowsMax: 8 })
  const segments = await objectsOf(exportAudit(sealed.deps, EVERYTHING))
  assert.deepEqual(
    segments.map((segment) => segment.map((object) => object[0]).join('')),
    ['abbbbbc', 'ddef'],
  )
  assert.equal(new Set(segments.flat()).size, 11)
  // The five of one transaction are read together; of the others as many as may be, and the one that follows.
  assert.deepEqual(answers.filter((count) => count > 3).length, 1)
  const checker = new AuditChecker(await readDatabaseSealKeys(sealed.deps))
  assert.equal((await checkDatabaseAudit(sealed.deps, checker, 0)).finding, null)
})

/** The same pool, which notes of how many rows each answer is that has audit rows. */
function notingAnswers(pool: Pool, answers: number[]): Pool {
  const connect = async () => {
    const client = await pool.connect()
    const query = async (...given: Parameters<typeof client.query>) => {
      const result = (await Reflect.apply(client.query, client, given)) as unknown as QueryResult
      if (result.rows[0]?.request_id) answers.push(result.rows.length)
      return result
    }
    return { query, release: client.release }
  }
  return Object.assign(Object.create(pool), { connect })
}

test('a minute without an entry makes no segment', async (t) => {
  const sealed = await startSealedAudit(t)
  await sealed.audit('a')
  await sealed.seal()
  const { head } = await viewSealHead(sealed.deps)
  sealed.clock.advance(60)
  assert.equal(await sealAudit(sealed.deps), 0)
  const after = await viewSealHead(sealed.deps)
  assert.deepEqual(after.head, head)
  assert.equal(after.sealedThrough?.getTime(), sealed.clock.nowMs())
})

test('a row of a long transaction is sealed after those that committed before it, and is not skipped', async (t) => {
  const sealed = await startSealedAudit(t)
  const { pool, clock } = sealed
  const late = {
    ...{ actor: 'operator', action: 'client.create', object: 'late' },
    ...{ requestId: randomUUID(), at: new Date(clock.nowMs()) },
  }
  await sealed.audit('before')
  let heldThrough = 0
  await inTransaction(pool, async (db) => {
    await insertAudit(db, late)
    clock.advance(60)
    await sealed.audit('beside')
    await sealAudit(sealed.deps, { everyMsMin: 0 })
    // What committed beside it stands above the line that it holds: neither is sealed.
    const segments = await objectsOf(exportAudit(sealed.deps, EVERYTHING))
    assert.ok(!segments.flat().includes('beside') && !segments.flat().includes('late'))
    const { rows } = await pool.query('select sealed_through from audit_seal_progress')
    heldThrough = rows[0].sealed_through.getTime()
  })
  assert.ok(heldThrough <= clock.nowMs())
  await sealed.seal()
  const segments = await objectsOf(exportAudit(sealed.deps, EVERYTHING))
  assert.deepEqual(segments.flat().toSorted(), ['before', 'beside', 'late'])
  const checker = new AuditChecker(await readDatabaseSealKeys(sealed.deps))
  assert.equal((await checkDatabaseAudit(sealed.deps, checker, 0)).finding, null)
})

test('regression: a backlog of days is sealed whole, in several rounds', async (t) => {
  const sealed = await startSealedAudit(t)
  for (let day = 0; day < 5; day++) {
    await sealed.audit(`day ${day}`)
    sealed.clock.advance(86_400)
  }
  await sealed.seal(1)
  const segments = await objectsOf(exportAudit(sealed.deps, EVERYTHING))
  assert.deepEqual(segments.flat(), ['day 0', 'day 1', 'day 2', 'day 3', 'day 4'])
})

test('regression: a clock that was days ahead, or behind, leaves no row out of the segments', async (t) => {
  const sealed = await startSealedAudit(t)
  const { deps, clock } = sealed
  const expected: string[] = []
  const audit = async (object: string) => {
    expected.push(object)
    await sealed.audit(object)
  }
  await audit('before')
  await sealed.seal()
  for (const days of [3, -40, 400]) {
    clock.advance(days * 86_400)
    await audit(`wrong by ${days} days`)
    await sealed.seal()
    await audit(`still wrong by ${days} days`)
    clock.advance(-days * 86_400)
    await audit(`right again after ${days} days`)
    await sealed.seal()
  }
  const segments = await objectsOf(exportAudit(deps, EVERYTHING))
  assert.deepEqual(segments.flat(), expected)
  const checker = new AuditChecker(await readDatabaseSealKeys(deps))
  assert.equal((await checkDatabaseAudit(deps, checker, 0)).finding, null)
})

test('regression: while one process holds the lock, no other seals', async (t) => {
  const sealed = await startSealedAudit(t)
  const { deps, pool } = sealed
  await sealed.audit('a')
  await inTransaction(pool, async (db) => {
    assert.equal(await tryLockSealing(db), true)
    assert.equal(await sealAudit(deps, { everyMsMin: 0 }), null)
    await assert.rejects(viewSealHead(deps), /Nothing is sealed yet/)
  })
  await sealed.seal()
  assert.equal((await viewSealHead(deps)).head.segment, 1)
})

test('regression: what is audited stays sealed when places are raised for a client from another cell', async (t) => {
  const sealed = await startSealedAudit(t)
  const { pool } = sealed
  await sealed.audit('before')
  await sealed.seal()
  assert.ok(await inTransaction(pool, (db) => raiseFeed(db, 2n ** 41n)))
  for (const object of ['after', 'later']) {
    await sealed.audit(object)
    await sealed.seal()
  }
  const segments = await objectsOf(exportAudit(sealed.deps, EVERYTHING))
  assert.deepEqual(segments.flat(), ['before', 'after', 'later'])

  // In another cluster it goes on above what is sealed, although no event tells how high that is.
  await pool.query('update feed_origin set system_identifier = system_identifier + 1')
  assert.ok(await inTransaction(pool, carryFeedOver))
  await sealed.audit('elsewhere')
  await sealed.seal()
  const all = await objectsOf(exportAudit(sealed.deps, EVERYTHING))
  assert.deepEqual(all.flat(), ['before', 'after', 'later', 'elsewhere'])
  const checker = new AuditChecker(await readDatabaseSealKeys(sealed.deps))
  assert.equal((await checkDatabaseAudit(sealed.deps, checker, 0)).finding, null)
})

test('two processes make no segment twice, and seal once a minute together', async (t) => {
  const sealed = await startSealedAudit(t)
  for (let at = 0; at < 20; at++) await sealed.audit(`client:${at}`)
  const rounds = await Promise.all(
    Array.from({ length: 6 }, () => sealAudit(sealed.deps, { rowsMax: 3 })),
  )
  assert.equal(rounds.filter((made) => made !== null).length, 1)
  await sealed.seal(3)
  const segments = await objectsOf(exportAudit(sealed.deps, EVERYTHING))
  assert.equal(new Set(segments.flat()).size, 20)
  assert.equal(segments.flat().length, 20)
  // Some seconds later another process finds that the minute is not over.
  sealed.clock.advance(10)
  assert.equal(await sealAudit(sealed.deps), null)
})

test('an export has whole segments, and all that was audited in its period', async (t) => {
  const sealed = await startSealedAudit(t)
  const instants: Date[] = []
  for (const object of ['a', 'b', 'c', 'd']) {
    instants.push(new Date(sealed.clock.nowMs()))
    await sealed.audit(object)
    sealed.clock.advance(60)
    await sealed.seal()
  }
  const [, from = null, to = null] = instants
  const exported = async (period: { from: Date | null; to: Date | null }) =>
    (await objectsOf(exportAudit(sealed.deps, period))).flat()
  assert.deepEqual(await exported({ from, to: null }), ['a', 'b', 'c', 'd'])
  assert.deepEqual(await exported({ from: new Date((from as Date).getTime() + 1), to }), ['b'])
  assert.deepEqual(await exported({ from: new Date(sealed.clock.nowMs() + 1), to: null }), [])
})
