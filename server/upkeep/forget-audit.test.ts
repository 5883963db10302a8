// Months of the audit that are over and old enough go, whole, and their seals stay.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Pool } from 'pg'
import { cloneDatabase } from '../../test/support/database.ts'
import { startSealedAudit } from '../../test/support/sealed-audit.ts'
import { AuditChecker } from '../core/audit-check.ts'
import { DAY_MS } from '../core/backoff.ts'
import { checkDatabaseAudit, readDatabaseSealKeys } from '../operations/verify-audit.ts'
import { auditId, insertAudit, listAudit } from '../store/audit.ts'
import { ensurePartitions } from '../store/partitions.ts'
import { forgetAudit } from './forget-audit.ts'

const NOW_MS = Date.parse('2026-11-17T09:30:00Z')
const daysAgo = (days: number) => new Date(NOW_MS - days * DAY_MS)

function depsOf(pool: Pool, days: { audit?: number }, nowMs = NOW_MS) {
  const clock = { nowMs: () => nowMs, monotonicMs: () => 0 }
  const config = { auditRetentionDays: days.audit ?? null, cell: 0 }
  return { pool, clock, config, newId: () => randomUUID() }
}

test('regression: months of the audit that are over and old enough are dropped, whole', async () => {
  const { pool } = await cloneDatabase()
  for (const days of [500, 410]) await ensurePartitions(pool, daysAgo(days))
  const entry = (days: number) => ({
    ...{ actor: 'operator', action: 'payment.put', object: `payment:${days}`, at: daysAgo(days) },
    ...{ requestId: randomUUID(), id: auditId(daysAgo(days)) },
  })
  await insertAudit(pool, [entry(500), entry(410), entry(0)])
  assert.deepEqual(await forgetAudit(depsOf(pool, {})), {
    dropped: [],
    isLeft: false,
    remark: null,
  })
  const { dropped, remark } = await forgetAudit(depsOf(pool, { audit: 400 }))
  assert.equal(remark, null)
  assert.ok(dropped.includes('audit_2025_07_01'), dropped.join())
  assert.ok(!dropped.includes('audit_2025_10_01'), 'a month that is not old to its last day')
  const left = await listAudit(pool, {}, { limit: 10, beforeId: null })
  assert.deepEqual(
    left.map(({ object }) => object),
    ['payment:0', 'payment:410'],
  )
  // Nothing else has become possible.
  await assert.rejects(pool.query('delete from audit'), /append-only/)
  assert.deepEqual((await forgetAudit(depsOf(pool, { audit: 400 }))).dropped, [])
})

test('retention drops whole segments, keeps their heads, and says so in a sealed row', async (t) => {
  const sealed = await startSealedAudit(t)
  const { pool, clock, seal } = sealed
  await sealed.audit('client:1')
  await sealed.audit('client:2')
  await seal()
  // No process seals for a while: a row of March is sealed in April, with one of April.
  await sealed.audit('client:3')
  clock.advance(40 * 86_400)
  await ensurePartitions(pool, new Date(clock.nowMs()))
  await sealed.audit('client:4')
  await seal()
  clock.advance(60)
  await sealed.audit('client:5')
  await seal()
  clock.advance(70 * 86_400)
  await ensurePartitions(pool, new Date(clock.nowMs()))
  const forget = () => forgetAudit(depsOf(pool, { audit: 70 }, clock.nowMs()))
  const check = async () => {
    const checker = new AuditChecker(await readDatabaseSealKeys(sealed.deps))
    return checkDatabaseAudit(sealed.deps, checker, 0)
  }
  // Nothing goes before the row that says so is sealed: until then a check would call it cut off.
  for (let round = 0; round < 2; round++) {
    assert.deepEqual(await forget(), { dropped: [], isLeft: true, remark: null })
    assert.equal((await check()).finding, null)
  }
  await seal()
  assert.deepEqual((await forget()).dropped, ['audit_2026_03_01'])
  const { rows } = await pool.query(
    'select segment, row_digests is null as is_dropped from audit_segments order by segment',
  )
  assert.deepEqual(
    rows.map((row) => row.is_dropped),
    [true, true, false, false],
  )
  const { finding, checked } = await check()
  assert.equal(finding, null)
  assert.deepEqual([checked.droppedThrough, checked.declaredThrough, checked.rows], [2, 2, 2])
  // A second round finds nothing more to say.
  assert.deepEqual((await forget()).isLeft, false)
  const drops = await listAudit(pool, { action: 'audit.drop' }, { limit: 9, beforeId: null })
  assert.deepEqual(
    drops.map(({ actor, object }) => [actor, object]),
    [['paybell', 'segments:1-2']],
  )
})

test('regression: what was audited and sealed on the first day of the next month stays proven', async (t) => {
  const sealed = await startSealedAudit(t)
  const { pool, clock, seal } = sealed
  clock.advance(Math.floor((Date.parse('2026-03-31T23:50:00Z') - clock.nowMs()) / 1_000))
  await sealed.audit('the last of March')
  await seal()
  clock.advance(1_200)
  await ensurePartitions(pool, new Date(clock.nowMs()))
  await sealed.audit('the first of April')
  await seal()
  clock.advance(100 * 86_400)
  await ensurePartitions(pool, new Date(clock.nowMs()))
  await forgetAudit(depsOf(pool, { audit: 90 }, clock.nowMs()))
  await seal()
  const { dropped } = await forgetAudit(depsOf(pool, { audit: 90 }, clock.nowMs()))
  assert.deepEqual(dropped, ['audit_2026_03_01'])
  const { rows } = await pool.query(
    'select segment from audit_segments where row_digests is null order by segment',
  )
  assert.deepEqual(rows, [{ segment: 1 }])
})
