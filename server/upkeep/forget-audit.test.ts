// Months of the audit that are over and old enough go, whole, and their seals stay.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import type { Pool } from 'pg'
import { startSealedAudit } from '../../test/support/sealed-audit.ts'
import { DAY_MS } from '../core/delivery/backoff.ts'
import { AuditChecker } from '../core/proofs/audit-check.ts'
import { verdictOf } from '../core/proofs/audit-finding.ts'
import { parseAuditLine } from '../core/proofs/audit-line.ts'
import { checkDatabaseAudit, readDatabaseSealKeys } from '../operations/proofs/verify-audit.ts'
import { exportAudit } from '../operations/proofs/view-audit-seal.ts'
import type { Deps } from '../operations/shared/deps.ts'
import { inTransaction } from '../store/connection/db.ts'
import { listAudit } from '../store/proofs/audit-table.ts'
import { ensurePartitions } from '../store/schema/partitions.ts'
import { forgetAudit } from './forget-audit.ts'

const NOW_MS = Date.parse('2026-11-17T09:30:00Z')
const daysAgo = (days: number) => new Date(NOW_MS - days * DAY_MS)

function depsOf(
  pool: Pool,
  days: { audit?: number },
  nowMs: number,
  webhookKeys: Deps['webhookKeys'],
) {
  const clock = { nowMs: () => nowMs, monotonicMs: () => 0, hasJumped: false }
  const config = { auditRetentionDays: days.audit ?? null, cell: 0 }
  return { pool, clock, config, webhookKeys, newId: () => randomUUID() }
}

test('regression: months of the audit that are over and old enough are dropped, whole', async (t) => {
  const sealed = await startSealedAudit(t)
  const { pool, clock } = sealed
  for (const days of [500, 410, 0]) {
    clock.advance((daysAgo(days).getTime() - clock.nowMs()) / 1_000)
    await ensurePartitions(pool, daysAgo(days))
    await sealed.audit(`payment:${days}`)
    await sealed.seal()
  }
  const forget = (days: { audit?: number }) =>
    forgetAudit(depsOf(pool, days, NOW_MS, sealed.deps.webhookKeys))
  assert.deepEqual(await forget({}), { dropped: [], isLeft: false, remark: null })
  const { dropped, remark } = await forget({ audit: 400 })
  assert.equal(remark, null)
  assert.ok(dropped.includes('audit_2025_07_01'), dropped.join())
  assert.ok(!dropped.includes('audit_2025_10_01'), 'a month that is not old to its last day')
  const left = await listAudit(pool, {}, { limit: 10, beforeId: null })
  assert.deepEqual(
    left.map(({ object }) => object),
    ['segments:1-1', 'payment:0', 'payment:410'],
  )
  // Nothing else has become possible.
  await assert.rejects(pool.query('delete from audit'), /append-only/)
  assert.deepEqual((await forget({ audit: 400 })).dropped, [])
})

/** An audit whose second segment has a row of March and one of April, months later. */
async function startOldAudit(t: TestContext) {
  const sealed = await startSealedAudit(t)
  const { pool, clock, seal, deps } = sealed
  await ensurePartitions(pool, new Date(clock.nowMs()))
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
  const forget = (hasJumped = false) => {
    const made = depsOf(pool, { audit: 70 }, clock.nowMs(), deps.webhookKeys)
    return forgetAudit({ ...made, clock: { ...made.clock, hasJumped } })
  }
  const check = async () => {
    const checker = new AuditChecker(await readDatabaseSealKeys(deps))
    const result = await checkDatabaseAudit(deps, checker, 0)
    return { ...result, verdict: verdictOf(result) }
  }
  return { sealed, forget, check }
}

test('retention drops months under a signed drop, and keeps heads and what is left provable', async (t) => {
  const { sealed, forget, check } = await startOldAudit(t)
  const { pool } = sealed
  assert.equal((await check()).verdict, 'valid')
  assert.deepEqual((await forget()).dropped, ['audit_2026_03_01'])
  const { rows } = await pool.query(
    'select segment, row_digests is null as is_dropped from audit_segments order by segment',
  )
  // The second still has a row of April, which its list proves.
  assert.deepEqual(
    rows.map((row) => row.is_dropped),
    [true, false, false],
  )
  const { finding, checked, verdict } = await check()
  assert.equal(finding, null)
  assert.equal(verdict, 'partial')
  assert.deepEqual([checked.dropped, checked.rows], [[{ from: 1, to: 2 }], 2])
  // A second round finds nothing more to say.
  assert.deepEqual(await forget(), { dropped: [], isLeft: false, remark: null })
  const drops = await listAudit(pool, { action: 'audit.drop' }, { limit: 9, beforeId: null })
  assert.deepEqual(
    drops.map(({ actor, object }) => [actor, object]),
    [['paybell', 'segments:1-2']],
  )
  await sealed.seal()
  assert.equal((await check()).verdict, 'partial')
  // An export says the same, also one that asks for a part of what was dropped.
  const first = await sealed.pool.query('select sealed_at from audit_segments where segment = 1')
  for (const to of [null, first.rows[0].sealed_at]) {
    const checker = new AuditChecker(await readDatabaseSealKeys(sealed.deps))
    for await (const text of exportAudit(sealed.deps, { from: null, to })) {
      for (const line of text.trimEnd().split('\n')) {
        const item = parseAuditLine(line)
        assert.ok(item)
        if (item.kind === 'row') checker.row(item.row)
        else if (item.kind === 'drop') assert.equal(checker.drop(item.drop), null)
        else assert.equal(checker.segment(item.segment), null)
      }
    }
    assert.equal(checker.end(), null)
    assert.deepEqual(checker.checked.dropped, [{ from: 1, to: 2 }])
  }
})

test('regression: nothing is dropped, and no drop is signed, while the clock is in doubt', async (t) => {
  const { sealed, forget } = await startOldAudit(t)
  assert.deepEqual(await forget(true), { dropped: [], isLeft: true, remark: null })
  assert.equal((await sealed.pool.query('select from audit_drops')).rowCount, 0)
})

test('a drop that was signed by a process that was killed then covers what the next one drops', async (t) => {
  const { sealed, forget, check } = await startOldAudit(t)
  // What keeps the month from being dropped: someone reads it.
  await inTransaction(sealed.pool, async (db) => {
    await db.query('lock table audit_2026_03_01 in access share mode')
    assert.deepEqual((await forget()).dropped, [])
  })
  assert.equal((await check()).verdict, 'valid', 'all rows are there')
  assert.deepEqual((await forget()).dropped, ['audit_2026_03_01'])
  assert.equal((await sealed.pool.query('select from audit_drops')).rowCount, 1)
  assert.equal((await check()).verdict, 'partial')
})

test('a month stays while a segment with rows of it is young, or has yet to be made', async (t) => {
  const { sealed, forget, check } = await startOldAudit(t)
  const { clock, pool } = sealed
  // The clock was 110 days behind for a moment: a row of March, sealed now.
  clock.advance(-110 * 86_400)
  await sealed.audit('client:6')
  clock.advance(110 * 86_400)
  assert.deepEqual(await forget(), { dropped: [], isLeft: true, remark: null })
  await sealed.seal()
  assert.match((await forget()).remark ?? '', /stays for now: segment 4/)
  assert.equal((await pool.query('select from audit_drops')).rowCount, 0)
  clock.advance(71 * 86_400)
  await ensurePartitions(pool, new Date(clock.nowMs()))
  assert.ok((await forget()).dropped.includes('audit_2026_03_01'))
  const { verdict, finding } = await check()
  assert.equal(verdict, 'partial', finding?.detail)
})

test('regression: what was audited and sealed on the first day of the next month stays proven', async (t) => {
  const sealed = await startSealedAudit(t)
  const { pool, clock, seal } = sealed
  clock.advance(Math.floor((Date.parse('2026-03-31T23:50:00Z') - clock.nowMs()) / 1_000))
  await ensurePartitions(pool, new Date(clock.nowMs()))
  await sealed.audit('the last of March')
  await seal()
  clock.advance(1_200)
  await ensurePartitions(pool, new Date(clock.nowMs()))
  await sealed.audit('the first of April')
  await seal()
  clock.advance(100 * 86_400)
  await ensurePartitions(pool, new Date(clock.nowMs()))
  const { webhookKeys } = sealed.deps
  const { dropped } = await forgetAudit(depsOf(pool, { audit: 90 }, clock.nowMs(), webhookKeys))
  assert.deepEqual(dropped, ['audit_2026_03_01'])
  const { rows } = await pool.query(
    'select segment from audit_segments where row_digests is null order by segment',
  )
  assert.deepEqual(rows, [{ segment: 1 }])
})
