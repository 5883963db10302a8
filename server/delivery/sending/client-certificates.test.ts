// Receivers that ask who calls, and receivers that only a private authority vouches for: real handshakes, with
// certificates made for each test.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { freePort } from '../../../test/support/free-port.ts'
import { type Issued, issue } from '../../../test/support/issue-certificate.ts'
import { until } from '../../../test/support/until.ts'
import type { ShownCertificate } from '../../core/certificates/shown-certificate.ts'
import type { EndpointTls } from '../../core/delivery/endpoint-tls.ts'
import { CallbackClient } from './callback-client.ts'
import { createIdentifiedSend } from './identified-send.ts'

const NAME = 'receiver.example.test'
const root = issue({ subject: 'CN=Root', isAuthority: true })
const other = issue({ subject: 'CN=Other root', isAuthority: true })
const receiver = issue({
  subject: 'CN=receiver',
  by: root,
  names: [NAME],
  addresses: ['127.0.0.1'],
})

function shownOf(issued: Issued): ShownCertificate {
  return {
    fingerprintSha256: new X509Certificate(issued.pem).fingerprint256,
    chainPem: issued.pem,
    privateKey: issued.privateKey,
  }
}

const own = shownOf(issue({ subject: 'CN=paybell', by: root, purposes: ['client'] }))

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

const AUTHORITIES = [root.pem]
const SHOWN: EndpointTls = { clientCertificate: 'own', certificateAuthorities: AUTHORITIES }

function startSend(t: TestContext, certificates: Record<string, ShownCertificate> = { own }) {
  const client = new CallbackClient({
    policy: { loopbackAllowed: false, allowedNetworks: ['127.0.0.1/32'] },
    resolve: async () => ['127.0.0.1'],
    ...{ connectTimeoutMs: 60_000, deadlineMs: 120_000, idleMsMax: 60_000 },
  })
  t.after(() => client.close())
  const send = createIdentifiedSend(client, {
    find: async (choice) => certificates[choice] ?? null,
    sign: async () => '',
  })
  return async (port: number, tls: EndpointTls | null, host = NAME) => {
    const { outcome } = await send({
      url: `https://${host}:${port}/callbacks`,
      ...{ clientKey: 1, eventId: 'event', kind: 'payment.created', attempt: 1 },
      ...{ headers: [], body: [Buffer.from('{}')], tls, oauth2: null },
      ...{ endpointId: null, deliveryId: null, beginByMs: null },
    })
    return outcome.kind === 'answered' ? outcome.status : outcome.reason
  }
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

/** It answers with what it got, reversed: who gets that far was taken. */
const TAKEN = 'protocol-error'

/** Receivers of OpenSSL say in an alert why they refuse; those of Node only close the connection. */
async function startOpenssl(t: TestContext, version: string, args: readonly string[] = []) {
  const dir = await mkdtemp(join(tmpdir(), 'paybell-openssl-'))
  await writeFile(join(dir, 'cert.pem'), receiver.pem)
  await writeFile(join(dir, 'key.pem'), receiver.keyPem)
  await writeFile(join(dir, 'ca.pem'), root.pem)
  const port = await freePort()
  const child = spawn(
    'openssl',
    [
      ...['s_server', '-accept', `127.0.0.1:${port}`, version, '-rev', '-verify_return_error'],
      ...['-cert', 'cert.pem', '-key', 'key.pem', '-CAfile', 'ca.pem', '-Verify', '1', ...args],
    ],
    { cwd: dir, stdio: 'ignore' },
  )
  let isMissing = false
  child.on('error', () => {
    isMissing = true
  })
  t.after(async () => {
    if (child.exitCode === null && !isMissing) {
      child.kill()
      await once(child, 'exit')
    }
    await rm(dir, { recursive: true, force: true })
  })
  return { port, isMissing: () => isMissing }
}

for (const version of ['-tls1_2', '-tls1_3']) {
  test(`what a receiver does not take has words of its own, ${version}`, async (t) => {
    const yesterday = new Date(Date.now() - 86_400_000)
    const expired = issue({ subject: 'CN=expired', by: root, notAfter: yesterday })
    const { port, isMissing } = await startOpenssl(t, version)
    const certificates = {
      own,
      stranger: shownOf(issue({ subject: 'CN=stranger', by: other })),
      expired: shownOf(expired),
    }
    const send = startSend(t, certificates)
    const ask = (clientCertificate: string | null) =>
      send(port, { clientCertificate, certificateAuthorities: AUTHORITIES })
    let first: string | number = 'connect-error'
    await until('openssl answers', async () => {
      first = isMissing() ? '' : await ask('own')
      return first !== 'connect-error'
    })
    if (isMissing()) return t.skip('openssl is not on this machine')
    assert.equal(first, TAKEN)
    assert.equal(await ask('stranger'), 'certificate-refused')
    assert.equal(await ask('expired'), 'certificate-refused')
    assert.equal(await ask(null), version === '-tls1_3' ? 'certificate-refused' : 'tls-error')
    assert.equal(await ask('own'), TAKEN)
  })
}
