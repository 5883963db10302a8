// Which certificate is shown for whom, as it is looked up for each attempt.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import type { Pool } from 'pg'
import { cloneDatabase } from '../../../test/support/database.ts'
import { onboard, serveHttp } from '../../../test/support/injected-server.ts'
import { issue } from '../../../test/support/issue-certificate.ts'
import { changeCertificate } from './change-certificate.ts'
import { completeCertificate, makeCertificate } from './make-certificate.ts'
import { openPrivateKey } from './private-key.ts'
import { makeDefault, removeCertificate } from './replace-certificate.ts'
import { ShownCertificates } from './shown-certificates.ts'

const { pool } = await cloneDatabase()
const root = issue({ subject: 'CN=Root', isAuthority: true })

function counting(): { counted: Pool; reads(): number } {
  let reads = 0
  const query = (...given: Parameters<Pool['query']>) => {
    reads += 1
    return pool.query(...given)
  }
  return { counted: { query } as unknown as Pool, reads: () => reads }
}

/** With what this process remembers, and what another one does. */
async function serve(t: TestContext) {
  await pool.query('delete from client_certificates')
  const server = await serveHttp(t, pool)
  const { deps, clock } = server
  const own = new ShownCertificates(deps)
  deps.shownCertificates = own
  const other = new ShownCertificates(deps)
  const make = (clients?: readonly string[] | 'everyone') => {
    const { pem, keyPem } = issue({ subject: 'CN=paybell', by: root, purposes: ['client'] })
    const pems = { certificatePem: pem + root.pem, privateKeyPem: keyPem }
    return makeCertificate(deps, { name: randomUUID(), ...pems, clients })
  }
  return { server, deps, clock, own, other, make }
}

test('regression: a certificate is shown for the clients that it is given to, whatever their endpoints name', async (t) => {
  const { server, deps, own, make } = await serve(t)
  const [a, b] = [await onboard(server), await onboard(server)]
  const { id } = await make([a.clientId])
  assert.notEqual(await own.find(a.clientKey, id), null)
  assert.equal(await own.find(b.clientKey, id), null)
  await makeDefault(deps, id, false)
  assert.notEqual(await own.find(a.clientKey, 'default'), null)
  assert.equal(await own.find(b.clientKey, 'default'), null)
  const { id: open } = await make('everyone')
  assert.notEqual(await own.find(b.clientKey, open), null)
})

test('one that is taken from a client is not shown for it any more: here at once, elsewhere within 5 seconds', async (t) => {
  const { server, deps, clock, own, other, make } = await serve(t)
  const { clientId, clientKey } = await onboard(server)
  const { id } = await make([clientId])
  for (const one of [own, other]) assert.notEqual(await one.find(clientKey, id), null)
  await changeCertificate(deps, id, { clients: [] })
  assert.equal(await own.find(clientKey, id), null)
  clock.advance(5)
  assert.equal(await other.find(clientKey, id), null)
  await removeCertificate(deps, id)
  assert.equal(await own.find(clientKey, id), null)
})

test('regression: one that has just been made, completed, given or made the default is shown at once', async (t) => {
  const { server, deps, own, make } = await serve(t)
  const { clientId, clientKey } = await onboard(server)
  // Read while there was nothing: what it remembers is as young as can be, because the clock stands still.
  assert.equal(await own.find(clientKey, 'default'), null)
  const { id } = await make([clientId])
  assert.notEqual(await own.find(clientKey, id), null, 'made')
  await makeDefault(deps, id, false)
  assert.notEqual(await own.find(clientKey, 'default'), null, 'made the default')
  const begun = await makeCertificate(deps, { name: 'asked for', subject: 'CN=paybell' })
  assert.equal(await own.find(clientKey, begun.id), null)
  const key = openPrivateKey(deps.sealer, begun)
  const signed = issue({ subject: 'CN=paybell', by: root, key, purposes: ['client'] })
  await changeCertificate(deps, begun.id, { clients: 'everyone' })
  await completeCertificate(deps, begun.id, signed.pem)
  assert.notEqual(await own.find(clientKey, begun.id), null, 'completed')
})

test('regression: one that another process has made is read before it is missing, and no oftener than four times a second', async (t) => {
  const { server, deps, clock, make } = await serve(t)
  const { clientKey } = await onboard(server)
  const { counted, reads } = counting()
  const far = new ShownCertificates({ ...deps, pool: counted })
  assert.equal(await far.find(clientKey, 'default'), null)
  assert.equal(reads(), 1)
  clock.advance(1)
  const { id } = await make('everyone')
  assert.notEqual(await far.find(clientKey, id), null)
  assert.equal(reads(), 2)
  // Someone who asks for what is not there makes it read no more.
  await Promise.all(Array.from({ length: 100 }, () => far.find(clientKey, randomUUID())))
  assert.equal(reads(), 2)
  clock.advance(0.3)
  await Promise.all(Array.from({ length: 100 }, () => far.find(clientKey, randomUUID())))
  assert.equal(reads(), 3)
})
