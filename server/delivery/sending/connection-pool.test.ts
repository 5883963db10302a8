import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import {
  answering,
  OK,
  type RawReceiver,
  startRawReceiver,
} from '../../../test/support/raw-receiver.ts'
import { CallbackClient, type CallbackClientOptions } from './callback-client.ts'

function startClient(t: TestContext, options: Partial<CallbackClientOptions> = {}): CallbackClient {
  const policy = { loopbackAllowed: true, allowedNetworks: [] }
  // Whatever a busy machine takes, no limit is over that a test does not set.
  const limits = { connectTimeoutMs: 60_000, deadlineMs: 120_000, bodyTimeMs: 60_000 }
  const client = new CallbackClient({ policy, idleMsMax: 60_000, ...limits, ...options })
  t.after(() => client.close())
  return client
}

function sendTo(client: CallbackClient, receiver: RawReceiver, clientKey = 1) {
  const url = `http://127.0.0.1:${receiver.port}/`
  return client.send({ url, clientKey, headers: [], body: [Buffer.from('{}')] })
}

/** A receiver that answers only when the test says so. */
async function startHolding(t: TestContext) {
  const held: Socket[] = []
  const receiver = await startRawReceiver(t, (socket) => {
    socket.on('data', () => held.push(socket))
  })
  const answerOne = async () => {
    await receiver.until(() => held.length > 0)
    held.shift()?.write(OK)
  }
  return { receiver, held, answerOne }
}

test('requests one after the other share one socket', async (t) => {
  const receiver = await startRawReceiver(t, answering(OK))
  const client = startClient(t)
  for (let n = 0; n < 50; n += 1) {
    const { outcome } = await sendTo(client, receiver)
    assert.equal(outcome.kind === 'answered' && outcome.status, 200)
  }
  assert.equal(receiver.connectionCount, 1)
})

test('clients never share a socket, not even to one origin', async (t) => {
  const receiver = await startRawReceiver(t, answering(OK))
  const client = startClient(t)
  for (let n = 0; n < 3; n += 1) {
    for (const clientKey of [1, 2]) await sendTo(client, receiver, clientKey)
  }
  assert.equal(receiver.connectionCount, 2)
  assert.equal(client.poolCount, 2)
})

test('no origin gets more sockets than its share; the rest wait and are answered in order', async (t) => {
  const { receiver, answerOne } = await startHolding(t)
  const client = startClient(t, { connectionsPerOrigin: 3 })
  const sent = Array.from({ length: 10 }, () => sendTo(client, receiver))
  await receiver.until(() => receiver.openCount === 3)
  for (let n = 0; n < 10; n += 1) await answerOne()
  for (const { outcome } of await Promise.all(sent)) assert.equal(outcome.kind, 'answered')
  assert.equal(receiver.connectionCount, 3)
  assert.equal(client.socketCount, 3)
})

test('a request that waits for a socket past its deadline is a timeout, and is never sent', async (t) => {
  const { receiver, held } = await startHolding(t)
  // Both begin in the same instant: else the second might get the socket of the first with a moment to spare.
  let nowMs = 0
  const limits = { connectionsPerOrigin: 1, deadlineMs: 50, monotonicMs: () => nowMs }
  const client = startClient(t, limits)
  const sent = [sendTo(client, receiver), sendTo(client, receiver)]
  await receiver.until(() => held.length === 1)
  nowMs = 50
  for (const { outcome } of await Promise.all(sent)) {
    assert.deepEqual(outcome, { kind: 'unreachable', reason: 'timeout' })
  }
  assert.equal(held.length, 1)
  await receiver.until(() => receiver.openCount === 0)
  assert.equal(client.poolCount, 0)
})

test('at the limit in all, the longest idle socket of another origin makes room', async (t) => {
  const receivers = await Promise.all([1, 2, 3].map(() => startRawReceiver(t, answering(OK))))
  const [first, second, third] = receivers as [RawReceiver, RawReceiver, RawReceiver]
  const client = startClient(t, { socketsMax: 2 })
  for (const receiver of receivers) {
    const { outcome } = await sendTo(client, receiver)
    assert.equal(outcome.kind, 'answered')
  }
  await first.until(() => first.openCount === 0)
  assert.deepEqual([second.openCount, third.openCount, client.socketCount], [1, 1, 2])
})

test('where no socket is idle, starved origins alternate with a busy one', async (t) => {
  const busy = await startHolding(t)
  const quiet = await startRawReceiver(t, answering(OK))
  const client = startClient(t, { socketsMax: 1 })
  const sent = Array.from({ length: 4 }, () => sendTo(client, busy.receiver))
  await busy.receiver.until(() => busy.held.length === 1)
  const starved = sendTo(client, quiet)
  await busy.answerOne()
  // One answer of the busy origin, which came first, and the quiet one is served.
  assert.equal((await starved).outcome.kind, 'answered')
  for (let n = 0; n < 3; n += 1) await busy.answerOne()
  for (const { outcome } of await Promise.all(sent)) assert.equal(outcome.kind, 'answered')
  assert.equal(client.socketCount, 1)
})

test('an idle origin is forgotten, socket and all', async (t) => {
  const receiver = await startRawReceiver(t, answering(OK))
  const client = startClient(t, { idleMsMax: 50 })
  await Promise.all([1, 2, 3].map((clientKey) => sendTo(client, receiver, clientKey)))
  await receiver.until(() => receiver.closedCount === 3)
  // The receiver sees the end a moment before our side does.
  while (client.poolCount > 0) await new Promise(setImmediate)
  assert.equal(client.socketCount, 0)
})

test('a socket past its age is replaced, so that its name is resolved again', async (t) => {
  const receiver = await startRawReceiver(t, answering(OK))
  let nowMs = 0
  const client = startClient(t, { monotonicMs: () => nowMs, ageMsMax: 60_000 })
  await sendTo(client, receiver)
  nowMs += 60_000
  await sendTo(client, receiver)
  assert.equal(receiver.connectionCount, 1)
  nowMs += 1
  await sendTo(client, receiver)
  await sendTo(client, receiver)
  assert.equal(receiver.connectionCount, 2)
})

test('a receiver that hangs up after each answer gets a new socket each time', async (t) => {
  const answer = 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'
  const receiver = await startRawReceiver(t, (socket) => {
    socket.on('data', () => socket.end(answer))
  })
  const client = startClient(t)
  for (let n = 0; n < 20; n += 1) {
    const { outcome } = await sendTo(client, receiver)
    assert.equal(outcome.kind === 'answered' && outcome.status, 200)
  }
  assert.equal(receiver.connectionCount, 20)
})

test('a socket that the receiver closed, or wrote to, while it was idle is found before anything is sent', async (t) => {
  const acts: ((socket: Socket) => void)[] = [
    (socket) => socket.destroy(),
    (socket) => socket.resetAndDestroy(),
    (socket) => socket.write(OK.replace('200', '500')),
  ]
  for (const act of acts) {
    const sockets: Socket[] = []
    const receiver = await startRawReceiver(t, (socket) => {
      sockets.push(socket)
      answering(OK)(socket, 0)
    })
    const client = startClient(t)
    await sendTo(client, receiver)
    const bytes = receiver.receivedBytes
    // After this a whole round of the event loop is ahead: what is done to the socket now is seen in it.
    await new Promise(setImmediate)
    act(sockets[0] ?? assert.fail())
    const { outcome } = await sendTo(client, receiver)
    assert.equal(outcome.kind === 'answered' && outcome.status, 200)
    assert.equal(receiver.connectionCount, 2)
    assert.equal(receiver.receivedBytes, 2 * bytes)
    assert.equal(client.socketCount, 1)
  }
})

test('a socket is not used for longer than the receiver says that it keeps it', async (t) => {
  const answer = 'HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5\r\nContent-Length: 0\r\n\r\n'
  const receiver = await startRawReceiver(t, answering(answer))
  let nowMs = 0
  const client = startClient(t, { monotonicMs: () => nowMs })
  await sendTo(client, receiver)
  nowMs += 3_000
  await sendTo(client, receiver)
  assert.equal(receiver.connectionCount, 1)
  nowMs += 3_001
  await sendTo(client, receiver)
  assert.equal(receiver.connectionCount, 2)
})

test('unrequested bytes never become the answer to the next request', async (t) => {
  const forged = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'
  const receiver = await startRawReceiver(t, (socket, connectionNumber) => {
    socket.on('data', () => {
      const status = connectionNumber === 1 ? 500 : 503
      const answer = `HTTP/1.1 ${status} x\r\nContent-Length: 0\r\n\r\n`
      socket.write(connectionNumber === 1 ? answer + forged : answer)
    })
  })
  const client = startClient(t)
  const statuses: unknown[] = []
  for (let n = 0; n < 2; n += 1) {
    const { outcome } = await sendTo(client, receiver)
    statuses.push(outcome.kind === 'answered' ? outcome.status : outcome.reason)
  }
  assert.deepEqual(statuses, [500, 503])
})

test('closing waits for what is running, ends every socket and takes no more', async (t) => {
  const { receiver, answerOne } = await startHolding(t)
  const client = startClient(t)
  const running = sendTo(client, receiver)
  const closed = client.close()
  const { outcome: refused } = await sendTo(client, receiver)
  assert.deepEqual(refused, { kind: 'unreachable', reason: 'connect-error' })
  await answerOne()
  assert.equal((await running).outcome.kind, 'answered')
  await closed
  await receiver.until(() => receiver.openCount === 0)
  assert.equal(client.socketCount, 0)
})
