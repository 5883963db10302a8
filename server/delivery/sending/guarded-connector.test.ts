import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { TLSSocket, TlsOptions } from 'node:tls'
import {
  answering,
  OK,
  type RawReceiver,
  readCertificate,
  startRawReceiver,
} from '../../../test/support/raw-receiver.ts'
import { until } from '../../../test/support/until.ts'
import type { Outcome } from '../../core/delivery/delivery.ts'
import { DEBT_POLICY } from '../../core/network/handshake-debts.ts'
import type { TargetPolicy } from '../../core/network/network-rules.ts'
import { CallbackClient, type CallbackClientOptions } from './callback-client.ts'
import { ConnectFailure, createGuardedConnector } from './guarded-connector.ts'
import { TlsContexts } from './tls-settings.ts'

const CA = readCertificate('ca.pem')
const NAME = 'receiver.example.test'
/** 127.0.0.1 stands for the public network in these tests; the rest of loopback is forbidden. */
const OPEN = '127.0.0.1'
const POLICY: TargetPolicy = { loopbackAllowed: false, allowedNetworks: [`${OPEN}/32`] }

function certified(name: string, more: TlsOptions = {}): TlsOptions {
  return { key: readCertificate('server.key'), cert: readCertificate(name), ...more }
}

function startClient(t: TestContext, options: Partial<CallbackClientOptions> = {}): CallbackClient {
  // However busy the machine is, no connection is given up and no socket ages, unless a test says so.
  const limits = {
    connectTimeoutMs: 60_000,
    deadlineMs: 120_000,
    bodyTimeMs: 60_000,
    idleMsMax: 60_000,
  }
  const client = new CallbackClient({ policy: POLICY, extraCa: CA, ...limits, ...options })
  t.after(() => client.close())
  return client
}

function sendTo(client: CallbackClient, port: number, host = NAME) {
  const url = `https://${host}:${port}/callbacks`
  return client.send({ url, clientKey: 1, headers: [], body: [Buffer.from('secret')] })
}

function reasonOf(outcome: Outcome): string {
  return outcome.kind === 'answered' ? `answered ${outcome.status}` : outcome.reason
}

/** One port on several addresses: the allowed one, and those that must never be called. */
async function startReceivers(t: TestContext) {
  const open = await startRawReceiver(t, answering(OK), { tls: certified('good.pem') })
  const forbidden: RawReceiver[] = []
  for (const host of ['127.0.0.2', '::1']) {
    // Not every machine has these addresses; where they are missing, nothing can reach them either.
    const started = startRawReceiver(t, answering(OK), { host, port: open.port })
    await started.then(
      (receiver) => forbidden.push(receiver),
      () => {},
    )
  }
  const forbiddenCount = () =>
    forbidden.reduce((sum, { connectionCount }) => sum + connectionCount, 0)
  return { open, forbiddenCount, port: open.port }
}

test('S2: a name that resolves to forbidden addresses only is blocked', async (t) => {
  const { forbiddenCount, port } = await startReceivers(t)
  const answers = ['127.0.0.2', '169.254.169.254', '::1', '10.0.0.1', '::ffff:127.0.0.1', '0.0.0.0']
  for (const addresses of [...answers.map((address) => [address]), answers]) {
    const client = startClient(t, { resolve: async () => addresses })
    const { outcome } = await sendTo(client, port)
    assert.deepEqual(outcome, { kind: 'blocked', reason: 'blocked-address' }, addresses.join())
    assert.equal(client.socketCount, 0)
  }
  assert.equal(forbiddenCount(), 0)
})

test('S2: of mixed answers only the allowed are dialled', async (t) => {
  const { open, forbiddenCount, port } = await startReceivers(t)
  const mixes = [
    ['127.0.0.2', OPEN],
    [OPEN, '127.0.0.2'],
    ['::1', '169.254.169.254', '127.0.0.2', OPEN],
  ]
  for (const addresses of mixes) {
    const { outcome } = await sendTo(startClient(t, { resolve: async () => addresses }), port)
    assert.equal(reasonOf(outcome), 'answered 200')
  }
  assert.equal(open.connectionCount, mixes.length)
  assert.equal(forbiddenCount(), 0)
})

test('S2: in the sandbox a name that resolves to loopback is blocked: only localhost is relaxed', async (t) => {
  const receiver = await startRawReceiver(t, answering(OK), { tls: certified('good.pem') })
  const policy = { loopbackAllowed: true, allowedNetworks: [] }
  const client = startClient(t, { policy, resolve: async () => ['127.0.0.1'] })
  assert.equal(reasonOf((await sendTo(client, receiver.port)).outcome), 'blocked-address')
  assert.equal(receiver.connectionCount, 0)
})

test('S3: rebinding: one resolution for each connection, and no packet to the private answer', async (t) => {
  const { open, forbiddenCount, port } = await startReceivers(t)
  let resolutions = 0
  const resolve = async () => [[OPEN], ['127.0.0.2', '::1']][resolutions++ % 2] as string[]
  // No socket is used twice.
  const client = startClient(t, { resolve, ageMsMax: -1 })
  const reasons = new Map<string, number>()
  for (let n = 0; n < 1_000; n += 1) {
    const reason = reasonOf((await sendTo(client, port)).outcome)
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  }
  assert.deepEqual(Object.fromEntries(reasons), { 'answered 200': 500, 'blocked-address': 500 })
  assert.equal(resolutions, 1_000)
  assert.equal(open.connectionCount, 500)
  assert.equal(forbiddenCount(), 0)
})

test('a kept-alive socket stays with the address it was vetted for', async (t) => {
  const { open, forbiddenCount, port } = await startReceivers(t)
  let resolutions = 0
  const resolve = async () => [[OPEN], ['127.0.0.2', '::1']][resolutions++] ?? []
  const client = startClient(t, { resolve })
  for (let n = 0; n < 10; n += 1) await sendTo(client, port)
  assert.deepEqual([resolutions, open.connectionCount, forbiddenCount()], [1, 1, 0])
})

test('a dead address among several costs a moment, not the attempt', async (t) => {
  const { port } = await startReceivers(t)
  const policy = { loopbackAllowed: false, allowedNetworks: ['127.0.0.0/8'] }
  const resolve = async () => ['127.0.0.9', OPEN]
  const client = startClient(t, { policy, resolve })
  assert.equal(reasonOf((await sendTo(client, port)).outcome), 'answered 200')
})

test('a name that does not resolve is a dns-error', async (t) => {
  const failing = async () => Promise.reject(new Error('no such name'))
  for (const resolve of [failing, async () => []]) {
    const { outcome } = await sendTo(startClient(t, { resolve }), 443)
    assert.deepEqual(outcome, { kind: 'unreachable', reason: 'dns-error' })
  }
})

test('localhost is mapped by hand in the sandbox: no name server is asked', async (t) => {
  const policy = { loopbackAllowed: true, allowedNetworks: [] }
  const tls = certified('good.pem')
  const receiver = await startRawReceiver(t, answering(OK), { tls })
  // Node tries the second address after 500 ms, which a busy machine may take for the first.
  await startRawReceiver(t, answering(OK), { host: '::1', port: receiver.port, tls }).catch(
    () => {},
  )
  const client = startClient(t, { policy, resolve: () => assert.fail('asked') })
  for (const host of ['localhost', 'localhost.', '127.0.0.1']) {
    assert.equal(
      reasonOf((await sendTo(client, receiver.port, host)).outcome),
      'answered 200',
      host,
    )
  }
})

test('IPv6 literals work, bracketed as they are in URLs', async (t) => {
  const tls = certified('good.pem')
  const receiver = await startRawReceiver(t, answering(OK), { host: '::1', tls }).catch(() => null)
  if (receiver === null) return t.skip('this machine has no IPv6 loopback')
  const client = startClient(t, { policy: { loopbackAllowed: true, allowedNetworks: [] } })
  assert.equal(reasonOf((await sendTo(client, receiver.port, '[::1]')).outcome), 'answered 200')
  assert.match(receiver.received, new RegExp(`host: \\[::1\\]:${receiver.port}\r\n`))
})

test('O1: stalls of DNS and of TLS end when the time to connect is over', async (t) => {
  const silent = await startRawReceiver(t, () => {})
  const stalls = [() => new Promise<string[]>(() => {}), async () => [OPEN]]
  for (const resolve of stalls) {
    // Nothing but the limit for connecting can end it within the test's time.
    const client = startClient(t, { resolve, connectTimeoutMs: 300, deadlineMs: 3_600_000 })
    const startedAt = performance.now()
    const { outcome } = await sendTo(client, silent.port)
    const tookMs = performance.now() - startedAt
    assert.deepEqual(outcome, { kind: 'unreachable', reason: 'timeout' })
    assert.ok(tookMs >= 300, `${tookMs}`)
    assert.equal(client.socketCount, 0)
  }
  await silent.until(() => silent.openCount === 0)
  assert.doesNotMatch(silent.received, /POST|secret/)
})

test('O1: DNS, TCP and TLS share one limit', async (t) => {
  const silent = await startRawReceiver(t, () => {})
  let nowMs = 0
  const resolve = async () => {
    await new Promise((resolve) => setImmediate(resolve))
    nowMs = 40
    return [OPEN]
  }
  const limits = { connectTimeoutMs: 50, monotonicMs: () => nowMs }
  const sent = sendTo(startClient(t, { resolve, ...limits }), silent.port)
  await silent.until(() => silent.openCount === 1)
  // What DNS took counts: a limit of its own for TLS would not be over, and never would be.
  nowMs = 50
  assert.equal(reasonOf((await sent).outcome), 'timeout')
})

test('O1: the deadline also ends an attempt that is still connecting, and its socket', async (t) => {
  const silent = await startRawReceiver(t, () => {})
  const limits = { connectTimeoutMs: 60_000, deadlineMs: 200 }
  const { outcome } = await sendTo(
    startClient(t, { resolve: async () => [OPEN], ...limits }),
    silent.port,
  )
  assert.equal(reasonOf(outcome), 'timeout')
  await silent.until(() => silent.openCount === 0)
})

test('the peer is checked again once connected, before a byte is sent', async (t) => {
  const receiver = await startRawReceiver(t, () => {})
  let checks = 0
  // A policy that changes its mind stands for an address that is not the one that was vetted.
  const policy = {
    loopbackAllowed: false,
    get allowedNetworks() {
      checks += 1
      return checks === 1 ? [`${OPEN}/32`] : []
    },
  }
  const client = startClient(t, { policy, resolve: async () => [OPEN] })
  assert.equal(reasonOf((await sendTo(client, receiver.port)).outcome), 'blocked-address')
  await receiver.until(() => receiver.closedCount === 1)
  assert.equal(checks, 2)
  assert.equal(receiver.receivedBytes, 0)
})

test('O4: a good certificate under the extra authority is accepted, with SNI by host name', async (t) => {
  const names: unknown[] = []
  const tls = certified('good.pem', {
    SNICallback: (name, callback) => {
      names.push(name)
      callback(null)
    },
  })
  const receiver = await startRawReceiver(t, answering(OK), { tls })
  const client = startClient(t, { resolve: async () => [OPEN] })
  assert.equal(reasonOf((await sendTo(client, receiver.port)).outcome), 'answered 200')
  assert.equal(reasonOf((await sendTo(client, receiver.port, `${NAME}.`)).outcome), 'answered 200')
  assert.deepEqual(new Set(names), new Set([NAME]))
})

test('O4: a bad certificate or an old protocol is told apart, and no HTTP byte is sent', async (t) => {
  const old = { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'ALL:@SECLEVEL=0' } as const
  const bad: [string, TlsOptions, string][] = [
    ['expired', certified('expired.pem'), 'tls-error'],
    ['wrong name', certified('wrong-name.pem'), 'tls-name'],
    ['self-signed', certified('self-signed.pem'), 'tls-authority'],
    ['unknown authority', certified('unknown-ca.pem'), 'tls-authority'],
    ['SHA-1', certified('sha1.pem'), 'tls-error'],
    ['TLS 1.1', certified('good.pem', old), 'tls-error'],
  ]
  for (const [name, tls, reason] of bad) {
    const receiver = await startRawReceiver(t, answering(OK), { tls })
    const client = startClient(t, { resolve: async () => [OPEN] })
    for (let n = 0; n < 2; n += 1) {
      const { outcome } = await sendTo(client, receiver.port)
      assert.deepEqual(outcome, { kind: 'unreachable', reason }, name)
    }
    await receiver.until(() => receiver.openCount === 0)
    assert.equal(receiver.receivedBytes, 0, name)
  }
})

test('O4: a session is taken up again for the name that it was made for, and for no other', async (t) => {
  const seen: [unknown, boolean][] = []
  const answer = 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'
  const receiver = await startRawReceiver(
    t,
    (socket) => {
      const secured = socket as TLSSocket & { servername: string | false }
      seen.push([secured.servername, secured.isSessionReused()])
      answering(answer)(socket, 0)
    },
    { tls: certified('good.pem') },
  )
  const client = startClient(t, { resolve: async () => [OPEN] })
  for (const host of [NAME, NAME, OPEN, NAME]) await sendTo(client, receiver.port, host)
  assert.deepEqual(seen, [
    [NAME, false],
    [NAME, true],
    [false, false],
    [NAME, true],
  ])
})

test('O4: over TLS too, what a receiver does to an idle socket is seen, and no request is lost by it', async (t) => {
  const acts: ((socket: Socket) => void)[] = [
    (socket) => socket.end(),
    (socket) => socket.destroy(),
    (socket) => socket.write(OK),
  ]
  for (const act of acts) {
    const sockets: Socket[] = []
    const behave = (socket: Socket) => {
      sockets.push(socket)
      answering(OK)(socket, 0)
    }
    const receiver = await startRawReceiver(t, behave, { tls: certified('good.pem') })
    const client = startClient(t, { resolve: async () => [OPEN] })
    assert.equal(reasonOf((await sendTo(client, receiver.port)).outcome), 'answered 200')
    act(sockets[0] ?? assert.fail())
    await until('the socket is given up', () => client.socketCount === 0)
    assert.equal(reasonOf((await sendTo(client, receiver.port)).outcome), 'answered 200')
    assert.equal(receiver.connectionCount, 2)
  }
})

test('O4: without the extra authority its certificates are not trusted', async (t) => {
  const tls = certified('good.pem')
  const receiver = await startRawReceiver(t, answering(OK), { tls })
  const policy = { policy: POLICY, resolve: async () => [OPEN] }
  const client = new CallbackClient(policy)
  t.after(() => client.close())
  assert.equal(reasonOf((await sendTo(client, receiver.port)).outcome), 'tls-authority')
  assert.equal(receiver.receivedBytes, 0)
})

test('O4: a receiver that does not speak TLS, or resets the handshake, is an outcome', async (t) => {
  const plain = await startRawReceiver(t, (socket) => socket.write(OK))
  const client = startClient(t, { resolve: async () => [OPEN] })
  assert.equal(reasonOf((await sendTo(client, plain.port)).outcome), 'tls-error')
  const reset = await startRawReceiver(t, (socket) => socket.resetAndDestroy())
  assert.equal(reasonOf((await sendTo(client, reset.port)).outcome), 'connection-reset')
})

test('S1: the connector itself refuses forbidden literals, for which no look-up is made', async (t) => {
  const receiver = await startRawReceiver(t, answering(OK))
  const resolve = () => assert.fail('asked')
  const policy = { loopbackAllowed: false, allowedNetworks: [] }
  const connect = createGuardedConnector({
    policy,
    resolve,
    nowMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    debtPolicy: DEBT_POLICY,
    connectTimeoutMs: 1_000,
    secureContext: new TlsContexts(undefined).usual(),
  })
  const timersBefore = timerCount()
  for (const hostname of ['127.0.0.1', '::ffff:127.0.0.1', '::1', '0.0.0.0', '169.254.169.254']) {
    for (const protocol of ['http:', 'https:']) {
      const target = {
        hostname,
        protocol,
        port: String(receiver.port),
        tls: null,
        clientKey: 1,
        onBytes: () => {},
      }
      const answer: { error?: Error | null; socket?: Socket | null } = {}
      connect(target, (error, socket) => Object.assign(answer, { error, socket }))
      assert.ok(answer.error instanceof ConnectFailure, hostname)
      assert.deepEqual(answer.error.outcome, { kind: 'blocked', reason: 'blocked-address' })
    }
  }
  assert.equal(timerCount(), timersBefore)
  assert.equal(receiver.connectionCount, 0)
})

function timerCount(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
}
