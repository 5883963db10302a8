// The operator is told of a certificate's end 30, 7 and 1 days before: once each, whichever processes decide.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cloneDatabase } from '../../test/support/database.ts'
import { serveHttp } from '../../test/support/injected-server.ts'
import { issue } from '../../test/support/issue-certificate.ts'
import {
  completeCertificate,
  makeCertificate,
} from '../operations/certificates/make-certificate.ts'
import { ensureNoticeEndpoint } from './ensure-notice-endpoint.ts'
import { sendNotices } from './send-notices.ts'

const DAY_S = 86_400

test('each number of days makes one notice, also with two processes, and a renewal begins anew', async (t) => {
  const { pool } = await cloneDatabase()
  const { deps, clock } = await serveHttp(t, pool)
  const config = {
    ...deps.config,
    noticeUrl: 'https://operator.test/notices',
    noticeKey: 'the key of notices',
  }
  await ensureNoticeEndpoint({ ...deps, config })
  const root = issue({ subject: 'CN=Root', isAuthority: true })
  const at = (days: number) => new Date(clock.nowMs() + days * DAY_S * 1_000)
  const own = { subject: 'CN=paybell', by: root, purposes: ['client'] } as const
  const first = issue({ ...own, notAfter: at(40) })
  const { id } = await makeCertificate(deps, {
    name: 'pix',
    certificatePem: first.pem + root.pem,
    privateKeyPem: first.keyPem,
  })
  await makeCertificate(deps, { name: 'not signed yet', subject: 'CN=paybell' })
  const told = async () => {
    // Both at once: one finds the lock taken, or what the other has told.
    await Promise.all([sendNotices(deps), sendNotices(deps)])
    const { rows } = await pool.query<{ sequence: number; text: string }>(
      `select sequence, text from events where kind = 'certificate.expiring' order by sequence`,
    )
    return rows.map(({ sequence, text }) => ({ sequence, ...JSON.parse(text) }))
  }
  const daysTold = async () => (await told()).map(({ daysLeft }) => daysLeft)

  assert.deepEqual(await daysTold(), [])
  clock.advance(10 * DAY_S)
  const [notice] = await told()
  const { notAfter, fingerprintSha256, ...shown } = notice.certificate
  assert.deepEqual(shown, { id, name: 'pix', subject: 'CN=paybell', usedBy: 0 })
  assert.match(fingerprintSha256, /^[\da-f]{64}$/)
  assert.ok(Math.abs(Date.parse(notAfter) - at(30).getTime()) <= 1_000)
  assert.equal(notice.type, 'certificate.expiring')
  assert.deepEqual(await daysTold(), [30])
  clock.advance(23 * DAY_S)
  assert.deepEqual(await daysTold(), [30, 7])
  // The same once more is no other end.
  await completeCertificate(deps, id, first.pem + root.pem)
  assert.deepEqual(await daysTold(), [30, 7])
  clock.advance(6 * DAY_S)
  assert.deepEqual(await daysTold(), [30, 7, 1])
  clock.advance(3 * DAY_S)
  assert.deepEqual(await daysTold(), [30, 7, 1], 'nothing more after its end')

  const renewed = issue({ ...own, key: first.privateKey, notAfter: at(5) })
  await completeCertificate(deps, id, renewed.pem + root.pem)
  assert.deepEqual(await daysTold(), [30, 7, 1, 5])
  assert.deepEqual(
    (await told()).map(({ sequence }) => sequence),
    [1, 2, 3, 4],
    'in order',
  )
})

test('while the clock is in doubt nothing is told', async (t) => {
  const { pool } = await cloneDatabase()
  const { deps, clock } = await serveHttp(t, pool)
  const config = {
    ...deps.config,
    noticeUrl: 'https://operator.test/notices',
    noticeKey: 'the key of notices',
  }
  await ensureNoticeEndpoint({ ...deps, config })
  const own = issue({
    subject: 'CN=paybell',
    purposes: ['client'],
    notAfter: new Date(clock.nowMs() + 3 * DAY_S * 1_000),
  })
  const offer = { name: 'pix', certificatePem: own.pem, privateKeyPem: own.keyPem }
  await makeCertificate(deps, offer)
  const doubtful = {
    nowMs: () => clock.nowMs(),
    monotonicMs: () => clock.monotonicMs(),
    hasJumped: true,
  }
  assert.equal(await sendNotices({ ...deps, clock: doubtful }), 0)
  assert.equal(await sendNotices(deps), 1)
})
