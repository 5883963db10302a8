// The check of the database: what no segment has, what only looks dropped, and what is told besides. The whole list of
// what an owner of the database may try is in test/adversary.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import {
  asOwner,
  type SealedAudit,
  signDrop,
  startSealedAudit,
} from '../../../test/support/sealed-audit.ts'
import { verdictOf } from '../../core/proofs/audit-finding.ts'
import { auditId } from '../../store/proofs/audit-table.ts'
import { verifyAudit } from './verify-audit.ts'
import { viewSealHead } from './view-audit-seal.ts'

/** Three segments of one row each. */
async function start(t: TestContext): Promise<SealedAudit> {
  const sealed = await startSealedAudit(t, { drop: true })
  for (const object of ['a', 'b', 'c']) {
    await sealed.audit(object)
    await sealed.seal()
  }
  return sealed
}

async function verify({ deps }: SealedAudit, after = 0) {
  const portion = await verifyAudit(deps, after, async () => {})
  return { ...portion, verdict: verdictOf(portion) }
}

const insertAt = (place: string, at = 'now()') =>
  `insert into audit (id, at, actor, action, object, request_id, place)
   values (gen_random_uuid(), ${at}, 'operator', 'client.create', 'x', gen_random_uuid(), ${place})`
const cut = (through: number) => [
  `delete from audit where place < (select to_place from audit_segments where segment = ${through})`,
  `update audit_segments set row_digests = null where segment <= ${through}`,
]

test('regression: a row at a negative position is found', async (t) => {
  const sealed = await start(t)
  await asOwner(sealed.pool, insertAt('-1', `'2020-01-01'`))
  const { finding } = await verify(sealed)
  assert.deepEqual([finding?.code, finding?.segment], ['row-added', 1])
})

test('regression: a sealed row that says that rows were dropped excuses nothing', async (t) => {
  const sealed = await start(t)
  await sealed.pool.query(
    `insert into audit (id, at, actor, action, object, request_id)
     values (gen_random_uuid(), now(), 'paybell', 'audit.drop', 'segments:1-2', gen_random_uuid())`,
  )
  await sealed.seal()
  await asOwner(sealed.pool, ...cut(2))
  const { finding } = await verify(sealed)
  assert.deepEqual([finding?.code, finding?.segment], ['rows-cut-off', 1])
})

test('regression: a check in several portions says of each what it is, and keeps the worst', async (t) => {
  const sealed = await start(t)
  const { deps, pool } = sealed
  assert.equal((await verify(sealed)).verdict, 'valid')
  await asOwner(pool, ...cut(1))
  assert.equal((await verify(sealed)).verdict, 'invalid')
  const { rows } = await pool.query(
    'select segment, encode(digest, $1) as digest, sealed_at from audit_segments where segment = 1',
    ['hex'],
  )
  const [{ segment, digest, sealed_at: sealedAt }] = rows
  const jws = await signDrop(sealed, { segment, digest, sealedAt: sealedAt.toISOString() } as never)
  await pool.query('insert into audit_drops values (1, $1)', [jws])
  const first = await verify(sealed)
  assert.deepEqual([first.verdict, first.checked.dropped], ['partial', [{ from: 1, to: 1 }]])
  assert.equal((await verify(sealed, 3)).verdict, 'valid', 'the last portion by itself')
  assert.equal((await viewSealHead(deps)).verification?.verdict, 'partial')
  await asOwner(pool, `update audit set actor = 'x' where object = 'c'`)
  assert.equal((await verify(sealed, 3)).verdict, 'invalid')
  assert.equal((await viewSealHead(deps)).verification?.verdict, 'invalid')
})

test('rows from before the audit was sealed are no finding, and are told', async (t) => {
  const sealed = await startSealedAudit(t, { drop: true })
  const { pool, clock } = sealed
  const insertOf = (days: number) => {
    const at = new Date(clock.nowMs() + days * 86_400_000)
    return pool.query(
      `insert into audit (id, at, actor, action, object, request_id, place)
       values ($1, $2, 'operator', 'a', 'x', gen_random_uuid(), 0)`,
      [auditId(at), at],
    )
  }
  await insertOf(-1)
  await sealed.audit('a')
  await sealed.seal()
  const honest = await verify(sealed)
  assert.equal(honest.verdict, 'valid', honest.finding?.detail)
  assert.match(honest.checked.remarks.join(), /are not sealed: nothing proves them/)
  await insertOf(1)
  assert.match((await verify(sealed)).checked.remarks.join(), /a clock was wrong, or it was added/)
})
