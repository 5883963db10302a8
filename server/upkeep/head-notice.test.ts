// The head of the audit goes out once a day, also on a day without a new seal.

import assert from 'node:assert/strict'
import test from 'node:test'
import { startSealedAudit } from '../../test/support/sealed-audit.ts'
import { viewSealHead } from '../operations/proofs/view-audit-seal.ts'
import { makeHeadNotice } from './head-notice.ts'

test('the daily notice has the newest seal, and is in order', async (t) => {
  const sealed = await startSealedAudit(t)
  const { deps, pool, clock } = sealed
  const make = () => makeHeadNotice(deps, pool, 1, new Date(clock.nowMs()))
  assert.equal(await make(), null, 'nothing is sealed yet')
  await sealed.audit('client:1')
  await sealed.seal()
  const first = await make()
  const { head } = await viewSealHead(deps)
  assert.equal(first?.kind, 'audit.head')
  assert.deepEqual(JSON.parse(first?.text ?? ''), {
    ...{ type: 'audit.head', head, at: new Date(clock.nowMs()).toISOString() },
  })
  clock.advance(3_600)
  assert.equal(await make(), null, 'once a day')
  clock.advance(86_400)
  const second = await make()
  assert.equal(second?.sequence, (first?.sequence ?? 0) + 1)
  assert.equal(second?.paymentId, first?.paymentId)
})
