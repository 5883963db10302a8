// What a receiver shows before TLS is up, and sessions that are taken up again: over real sockets.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { TLSSocket, TlsOptions } from 'node:tls'
import { chainUnder, costlyKey, groupOf } from '../../../test/adversary/costly-receivers.ts'
import { issue, newKey } from '../../../test/support/issue-certificate.ts'
import { answering, startRawReceiver } from '../../../test/support/raw-receiver.ts'
import { until } from '../../../test/support/until.ts'
import { CallbackClient, type CallbackClientOptions } from './callback-client.ts'

const NAME = 'receiver.example.test'
const ANSWER = 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'
const root = issue({ subject: 'CN=root', isAuthority: true })
const rsa = newKey(2_048)
const costly = costlyKey()
const VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const
const only = (version: (typeof VERSIONS)[number]) => ({ minVersion: version, maxVersion: version })

function certified(notAfter?: Date): TlsOptions {
  const names = { names: [NAME], addresses: ['127.0.0.1'] }
  const own = issue({ subject: 'CN=r', by: root, ...names, ...(notAfter ? { notAfter } : {}) })
  return { key: own.keyPem, cert: own.pem }
}

/** A chain of three, of which one certificate ends. */
function chainWith(ends: { root?: Date; intermediate?: Date; own?: Date }) {
  const until = (notAfter?: Date) => (notAfter ? { notAfter } : {})
  const root = issue({ subject: 'CN=a root', isAuthority: true, ...until(ends.root) })
  const middle = { subject: 'CN=between', by: root, isAuthority: true }
  const intermediate = issue({ ...middle, ...until(ends.intermediate) })
  const names = { names: [NAME], addresses: ['127.0.0.1'] }
  const own = issue({ subject: 'CN=r', by: intermediate, ...names, ...until(ends.own) })
  return { ca: root.pem, tls: { key: own.keyPem, cert: own.pem + intermediate.pem } }
}

const ENDING = [
  ['the certificate that it began with', (own: Date) => chainWith({ own })],
  ['one between it and its authority', (intermediate: Date) => chainWith({ intermediate })],
  ['its authority', (root: Date) => chainWith({ root })],
] as const

/** Tells of each connection whether its session was taken up again. */
async function startReceiver(t: TestContext, tls: TlsOptions) {
  const resumed: boolean[] = []
  const receiver = await startRawReceiver(
    t,
    (socket) => {
      resumed.push((socket as TLSSocket).isSessionReused())
      answering(ANSWER)(socket, 0)
    },
    { tls },
  )
  return { port: receiver.port, resumed }
}

function startSend(t: TestContext, options: Partial<CallbackClientOptions> = {}) {
  const client = new CallbackClient({
    policy: { loopbackAllowed: true, allowedNetworks: [] },
    extraCa: root.pem,
    ...{ connectTimeoutMs: 60_000, deadlineMs: 120_000 },
    ...options,
  })
  t.after(() => client.close())
  return async (port: number, clientKey = 1) => {
    const url = `https://127.0.0.1:${port}/`
    const { outcome } = await client.send({ url, clientKey, headers: [], body: [] })
    return outcome.kind === 'answered' ? outcome.status : outcome.reason
  }
}

for (const version of VERSIONS) {
  for (const [which, chainUntil] of ENDING) {
    test(`regression: a session ends with ${which}, over ${version}`, async (t) => {
      // Whole seconds: a certificate knows no others.
      const endsAt = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 3_000)
      const { ca, tls } = chainUntil(endsAt)
      const { port, resumed } = await startReceiver(t, { ...tls, ...only(version) })
      const send = startSend(t, { extraCa: ca })
      assert.deepEqual([await send(port), await send(port)], [200, 200])
      assert.deepEqual(resumed, [false, true])
      await until('it has ended', () => Date.now() > endsAt.getTime() + 1_000)
      assert.equal(await send(port), 'tls-error')
      assert.ok(!resumed.slice(2).includes(true))
    })
  }

  test(`regression: a session ends by this machine's clock, where the service's is behind, over ${version}`, async (t) => {
    const endsAt = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 3_000)
    const { ca, tls } = chainWith({ own: endsAt })
    const { port } = await startReceiver(t, { ...tls, ...only(version) })
    const send = startSend(t, { extraCa: ca, nowMs: () => Date.now() - 600_000 })
    assert.equal(await send(port), 200)
    await until('it has ended', () => Date.now() > endsAt.getTime() + 1_000)
    assert.equal(await send(port), 'tls-error')
  })

  test(`regression: a session ends an hour after its full handshake, however often it is taken up, over ${version}`, async (t) => {
    const { port, resumed } = await startReceiver(t, { ...certified(), ...only(version) })
    let aheadMs = 0
    const send = startSend(t, { monotonicMs: () => performance.now() + aheadMs })
    for (const minutes of [0, 30, 58, 61, 90]) {
      aheadMs = minutes * 60_000
      assert.equal(await send(port), 200)
    }
    assert.deepEqual(resumed, [false, true, true, false, true])
  })

  test(`regression: a session is of one client and one port, over ${version}`, async (t) => {
    // Either server takes up what the other has given.
    const shared = { ...certified(), ...only(version), ticketKeys: randomBytes(48) }
    const one = await startReceiver(t, shared)
    const other = await startReceiver(t, shared)
    const send = startSend(t)
    assert.equal(await send(one.port, 1), 200)
    assert.equal(await send(one.port, 2), 200)
    assert.equal(await send(other.port, 1), 200)
    assert.equal(await send(one.port, 1), 200)
    assert.deepEqual([one.resumed, other.resumed], [[false, false, true], [false]])
  })

  test(`regression: a chain that takes long to verify is refused before it is, over ${version}`, async (t) => {
    const { port } = await startReceiver(t, {
      ...chainUnder(costly, 4).options,
      ...only(version),
    })
    assert.equal(await startSend(t)(port), 'tls-too-costly')
  })

  test(`large honest chains are taken, over ${version}`, async (t) => {
    const names = Array.from({ length: 900 }, (_, n) => `receiver-${n}.example.test`)
    const { root: above, options } = chainUnder(rsa, 4, { key: rsa, names })
    assert.ok(options.cert.length > 32_000, `${options.cert.length} characters, base64`)
    const { port } = await startReceiver(t, { ...options, ...only(version) })
    assert.equal(await startSend(t, { extraCa: above.pem })(port), 200)
  })

  test(`a handshake that comes byte by byte is taken, over ${version}`, async (t) => {
    const { port } = await startReceiver(t, { ...certified(), ...only(version) })
    const relay = createServer((near) => {
      const far = connect(port, '127.0.0.1')
      near.setNoDelay(true).pipe(far)
      far.on('data', (bytes) => {
        for (const byte of bytes) near.write(Buffer.from([byte]))
      })
      far.on('end', () => near.end())
      for (const socket of [near, far]) socket.on('error', () => far.destroy())
    }).listen(0, '127.0.0.1')
    t.after(() => relay.close())
    await once(relay, 'listening')
    assert.equal(await startSend(t)((relay.address() as AddressInfo).port), 200)
  })
}

for (const ciphers of [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
]) {
  test(`certificates are seen under ${ciphers}, also after a retry`, async (t) => {
    const send = startSend(t)
    const tls = { ciphers, ecdhCurve: 'P-521' }
    const fine = await startReceiver(t, { ...certified(), ...tls })
    assert.equal(await send(fine.port), 200)
    const slow = await startReceiver(t, { ...chainUnder(costly, 2).options, ...tls })
    assert.equal(await send(slow.port), 'tls-too-costly')
  })
}

test('regression: a receiver does not choose a group for Diffie-Hellman', async (t) => {
  const tls = chainUnder(rsa, 1, { key: rsa }).options
  const dhparam = groupOf(2_048)
  const ciphers = 'DHE-RSA-AES128-GCM-SHA256'
  const { port } = await startReceiver(t, { ...tls, ...only('TLSv1.2'), ciphers, dhparam })
  assert.equal(await startSend(t)(port), 'tls-error')
})

test('a chain with keys against quantum computers is taken', async (t) => {
  const key = newKey('ml-dsa-65')
  const { root: above, options } = chainUnder(key, 3, { key })
  assert.ok(options.cert.length > 20_000, `${options.cert.length} characters, base64`)
  const { port } = await startReceiver(t, options)
  assert.equal(await startSend(t, { extraCa: above.pem })(port), 200)
})

for (const version of VERSIONS) {
  test(`a receiver that asks for a certificate may name hundreds of authorities, over ${version}`, async (t) => {
    const subject = `CN=${'An authority with a long name '.repeat(2)}, O=${'Its company'.repeat(3)}`
    const authority = issue({ subject, isAuthority: true })
    const asks = {
      requestCert: true,
      rejectUnauthorized: false,
      ca: Array(300).fill(authority.pem),
    }
    const { port } = await startReceiver(t, { ...certified(), ...only(version), ...asks })
    assert.equal(await startSend(t)(port), 200)
  })
}

test('an origin whose handshakes take too long pauses for its client alone', async (t) => {
  const { port, resumed } = await startReceiver(t, certified())
  const other = await startReceiver(t, certified())
  let aheadMs = 0
  const send = startSend(t, {
    monotonicMs: () => performance.now() + aheadMs,
    // Each counts as a second more than it took: a pause that this test does not outlast.
    debtPolicy: { usualMs: -1_000, originMsMax: 0, clientMsMax: 1_000_000 },
  })
  assert.equal(await send(port), 200)
  assert.equal(await send(port), 'tls-too-costly')
  assert.equal(resumed.length, 1)
  assert.equal(await send(port, 2), 200)
  assert.equal(await send(other.port), 200)
  aheadMs = 3_600_000
  assert.equal(await send(port), 200)
})
