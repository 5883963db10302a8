// Receivers that ask who calls, and receivers that only a private authority vouches for: real handshakes, with
// certificates made for each test.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { issue } from '../../../test/support/issue-certificate.ts'
import {
  AUTHORITIES,
  NAME,
  other,
  own,
  receiver,
  root,
  SHOWN,
  shownOf,
  startSend,
} from '../../../test/support/shown-certificates.ts'
import { CallbackClient } from './callback-client.ts'

/** What a receiver saw of its caller: a fingerprint, or nothing. */
interface Seen {
  fingerprint: string | null
  isTrusted: boolean
  socket: TLSSocket
  version: string | null
}

async function startReceiver(t: TestContext, more: object = {}) {
  const seen: Seen[] = []
  const server = createServer(
    {
      ...{ cert: receiver.pem, key: receiver.keyPem, ca: root.pem },
      ...{ requestCert: true, rejectUnauthorized: false, ...more },
    },
    (request, response) => {
      const socket = request.socket as TLSSocket
      const shown = socket.getPeerCertificate()
      seen.push({
        fingerprint: shown.fingerprint256 ?? null,
        isTrusted: socket.authorized,
        socket,
        version: socket.getProtocol(),
      })
      request.resume().on('end', () => response.end())
    },
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return { seen, port: (server.address() as AddressInfo).port }
}

for (const version of ['TLSv1.2', 'TLSv1.3']) {
  test(`a receiver that asks is shown the certificate, over ${version}`, async (t) => {
    const { seen, port } = await startReceiver(t, { minVersion: version, maxVersion: version })
    const send = startSend(t)
    assert.equal(await send(port, SHOWN), 200)
    assert.equal(await send(port, SHOWN), 200)
    assert.equal(seen[0]?.version, version)
    assert.equal(seen[0]?.fingerprint, own.fingerprintSha256)
    assert.equal(seen[0]?.isTrusted, true)
    assert.equal(seen[0]?.socket, seen[1]?.socket, 'the connection is kept')
  })
}

for (const version of ['TLSv1.2', 'TLSv1.3']) {
  test(`a receiver in Node that refuses closes the connection without a word, over ${version}`, async (t) => {
    const versions = { minVersion: version, maxVersion: version }
    const { seen, port } = await startReceiver(t, { ...versions, rejectUnauthorized: true })
    const stranger = shownOf(issue({ subject: 'CN=stranger', by: other }))
    assert.equal(await startSend(t, { own: stranger })(port, SHOWN), 'connection-reset')
    assert.equal(seen.length, 0)
  })
}

test('by address and by name, the receiver is who it says, by the authority that was named', async (t) => {
  const { port } = await startReceiver(t)
  const send = startSend(t)
  const tls = { clientCertificate: null, certificateAuthorities: AUTHORITIES }
  assert.equal(await send(port, tls, '127.0.0.1'), 200)
  assert.equal(await send(port, tls), 200)
  assert.equal(await send(port, tls, 'another.example.test'), 'tls-name')
  assert.equal(await send(port, null), 'tls-authority', 'no public authority knows it')
  const strangers = { ...tls, certificateAuthorities: [other.pem] }
  assert.equal(await send(port, strangers), 'tls-authority')
})

test('an authority that another has signed is believed where it is named', async (t) => {
  const middle = issue({ subject: 'CN=Middle', by: root, isAuthority: true })
  const signed = issue({ subject: 'CN=receiver', by: middle, names: [NAME] })
  const { port } = await startReceiver(t, { cert: signed.pem, key: signed.keyPem })
  const tls = { clientCertificate: null, certificateAuthorities: [middle.pem] }
  assert.equal(await startSend(t)(port, tls), 200)
})

test('regression: a chain that was completed is shown, although its first certificate is the same', async (t) => {
  const middle = issue({ subject: 'CN=Middle', by: root, isAuthority: true })
  const signed = issue({ subject: 'CN=paybell', by: middle, purposes: ['client'] })
  const { seen, port } = await startReceiver(t)
  const certificates = { own: shownOf(signed) }
  const send = startSend(t, certificates)
  assert.equal(await send(port, SHOWN), 200)
  certificates.own = { ...certificates.own, chainPem: signed.pem + middle.pem }
  assert.equal(await send(port, SHOWN), 200)
  assert.deepEqual(
    seen.map(({ isTrusted }) => isTrusted),
    [false, true],
  )
})

test('an authority that is named stands in place of the public ones, and does not make an old certificate good', async (t) => {
  const yesterday = new Date(Date.now() - 86_400_000)
  const old = issue({ subject: 'CN=old', by: root, names: [NAME], notAfter: yesterday })
  const { port } = await startReceiver(t, { cert: old.pem, key: old.keyPem })
  assert.equal(await startSend(t)(port, SHOWN), 'tls-error')
})

test('no connection and no session is shared between settings', async (t) => {
  const { seen, port } = await startReceiver(t)
  const second = shownOf(issue({ subject: 'CN=second', by: root, purposes: ['client'] }))
  const send = startSend(t, { own, second })
  const choices = ['own', null, 'second', 'own', null, 'second']
  for (const clientCertificate of choices) {
    assert.equal(await send(port, { clientCertificate, certificateAuthorities: AUTHORITIES }), 200)
  }
  const prints = seen.map(({ fingerprint }) => fingerprint)
  const [one, two] = [own.fingerprintSha256, second.fingerprintSha256]
  assert.deepEqual(prints, [one, null, two, one, null, two])
  assert.equal(new Set(seen.map(({ socket }) => socket)).size, 3)
})

test('a certificate that is not there is said, and nothing is sent', async (t) => {
  const { seen, port } = await startReceiver(t)
  assert.equal(await startSend(t, {})(port, SHOWN), 'certificate-missing')
  assert.equal(seen.length, 0)
})

test('an address that callbacks must not reach is refused before TLS begins', async (t) => {
  const { port } = await startReceiver(t)
  const client = new CallbackClient({
    policy: { loopbackAllowed: false, allowedNetworks: [] },
    resolve: async () => ['127.0.0.1'],
  })
  t.after(() => client.close())
  const { outcome } = await client.send({
    url: `https://${NAME}:${port}/`,
    ...{ clientKey: 1, headers: [], body: [] },
    tlsSettings: client.tlsSettings(own, AUTHORITIES),
  })
  assert.deepEqual(outcome, { kind: 'blocked', reason: 'blocked-address' })
})
