// The seals of the audit over HTTP: who reads them, that an auditor's reads are audited, and what they say.

import assert from 'node:assert/strict'
import test from 'node:test'
import { call } from '../../../../test/support/injected-calls.ts'
import { assertProblem, OPERATOR_KEY } from '../../../../test/support/injected-server.ts'
import { type SealedAudit, startSealedAudit } from '../../../../test/support/sealed-audit.ts'
import { AuditChecker } from '../../../core/proofs/audit-check.ts'
import { readSealKeys } from '../../../core/proofs/seal-signature.ts'
import { createOperatorKey } from '../../../operations/access/create-operator-key.ts'

async function start(t: Parameters<typeof startSealedAudit>[0]) {
  const sealed = await startSealedAudit(t, { drop: true })
  const { key } = await createOperatorKey(sealed.deps, { name: 'ada', role: 'auditor' })
  return { sealed, auditor: key }
}

function get({ app }: SealedAudit, path: string, key = OPERATOR_KEY) {
  const headers = { authorization: `Bearer ${key}` }
  return app.inject({ url: `/operator/v1/audit${path}`, headers })
}

test('the head is 404 until something is sealed, and then the newest segment', async (t) => {
  const { sealed, auditor } = await start(t)
  assertProblem(await get(sealed, '/head'), 404, 'not-found')
  await sealed.audit('client:1')
  await sealed.seal()
  const head = (await get(sealed, '/head', auditor)).json()
  assert.deepEqual(Object.keys(head), [
    ...['segment', 'from', 'to', 'count', 'digest', 'previous', 'sealedAt', 'jws'],
    ...['sealedThrough', 'verification'],
  ])
  assert.deepEqual([head.segment, head.count, head.verification], [1, 1, null])
  assert.equal(head.previous, '0'.repeat(64))
})

test('an export is verified with nothing but the published keys, and is NDJSON', async (t) => {
  const { sealed, auditor } = await start(t)
  for (const object of ['client:1', 'client:2!', 'client:3']) await sealed.audit(object)
  await sealed.seal(2)
  const answer = await get(sealed, '/export', auditor)
  assert.equal(answer.headers['content-type'], 'application/x-ndjson')
  assert.match(String(answer.headers['content-disposition']), /^attachment/)
  const keys = readSealKeys((await sealed.app.inject('/.well-known/webhook-keys.json')).json())
  const checker = new AuditChecker(keys)
  for (const line of answer.body.trimEnd().split('\n')) {
    const item = JSON.parse(line)
    if ('segment' in item) assert.equal(checker.segment(item), null)
    else checker.row(item)
  }
  assert.equal(checker.end(), null)
  assert.deepEqual([checker.checked.rows, checker.checked.segments], [3, 2])
  const later = new Date(sealed.clock.nowMs() + 1).toISOString()
  assert.equal((await get(sealed, `/export?from=${later}`)).body, '')
  assertProblem(await get(sealed, '/export?from=yesterday'), 400, 'invalid-query')
  const before = new Date(sealed.clock.nowMs()).toISOString()
  assertProblem(await get(sealed, `/export?from=${later}&to=${before}`), 400, 'invalid-query')
})

test('an auditor’s reads are audited, those of others are not, and nothing else is open to it', async (t) => {
  const { sealed, auditor } = await start(t)
  await sealed.audit('client:1')
  await sealed.seal()
  for (const path of ['', '/head', '/export']) {
    assert.equal((await get(sealed, path, auditor)).statusCode, 200, path)
    assert.equal((await get(sealed, path)).statusCode, 200, path)
  }
  const { items } = (await get(sealed, '?actor=ada')).json()
  assert.deepEqual(
    items.map(({ action, object }: { action: string; object: string }) => [action, object]),
    [
      ['audit.export', 'audit'],
      ['audit.head', 'audit'],
      ['audit.list', 'audit'],
    ],
  )
  const headers = { authorization: `Bearer ${auditor}` }
  for (const url of ['/operator/v1/clients', '/operator/v1/keys', '/operator/v1/payments']) {
    assertProblem(await call(sealed, headers, 'GET', url), 403, 'role-not-allowed')
  }
})

test('the operator’s check is kept for all to see', async (t) => {
  const { sealed, auditor } = await start(t)
  await sealed.audit('client:1')
  await sealed.audit('client:2')
  await sealed.seal()
  const verify = (key = OPERATOR_KEY, payload: object = {}) =>
    call(sealed, { authorization: `Bearer ${key}` }, 'POST', '/operator/v1/audit/verify', payload)
  assertProblem(await verify(auditor), 403, 'role-not-allowed')
  assertProblem(await verify(OPERATOR_KEY, { after: -1 }), 400, 'invalid-fields')
  const first = (await verify()).json()
  assert.deepEqual(first, {
    ...{ verdict: 'valid', valid: true, finding: null, rows: 2, segments: 1, dropped: [] },
    ...{ remarks: [], last: 1, next: null },
  })
  const seen = (await get(sealed, '/head')).json().verification
  assert.deepEqual([seen.from, seen.to, seen.verdict, seen.finding], [1, 1, 'valid', null])
  await sealed.pool.query(
    `alter table audit_default disable trigger user;
     update audit_default set actor = 'another' where object = 'client:2'`,
  )
  const second = (await verify()).json()
  assert.deepEqual(
    [second.verdict, second.valid, second.finding.code],
    ['invalid', false, 'row-changed'],
  )
  assert.deepEqual((await get(sealed, '/head')).json().verification.finding, second.finding)
})

test('a list says which rows are in no segment', async (t) => {
  const { sealed } = await start(t)
  await sealed.audit('client:1')
  const sealedOf = async () =>
    (await get(sealed, '')).json().items.map((item: { sealed: boolean }) => item.sealed)
  assert.deepEqual(await sealedOf(), [false])
  await sealed.seal()
  await sealed.audit('client:2')
  assert.deepEqual(await sealedOf(), [false, true])
  await sealed.seal()
  await sealed.pool.query(
    `insert into audit (id, at, actor, action, object, request_id, place)
     values ('00000000-0000-7000-8000-000000000001', '2020-01-01', 'operator', 'a', 'x', gen_random_uuid(), -1)`,
  )
  assert.deepEqual(await sealedOf(), [true, true, false])
})
