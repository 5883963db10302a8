// The connection between two serving processes, with both ends in this one.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, Server } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { SiblingChannel } from '../../../server/delivery/seams/sibling-channel.ts'
import { until } from '../../../test/support/until.ts'
import { makeSocketPair, useSocket } from './sibling-sockets.ts'

async function connected(t: TestContext) {
  const sockets = await makeSocketPair()
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  const use = (socket: (typeof sockets)[number]) => {
    const side = { received: [] as string[], isClosed: false, channel: null as unknown }
    useSocket(socket, (channel) => {
      side.channel = channel
      return {
        receive: (text) => void side.received.push(text),
        closed: () => {
          side.isClosed = true
        },
      }
    })
    return side as typeof side & { channel: SiblingChannel }
  }
  return {
    sockets,
    use,
    sides: () => sockets.map(use) as [ReturnType<typeof use>, ReturnType<typeof use>],
  }
}

test('texts arrive whole and in order, both ways', async (t) => {
  const { sides } = await connected(t)
  const [one, other] = sides()
  const texts = ['{}', '✓ é 🔔'.repeat(60_000), '{"n":1}']
  for (const text of texts) assert.equal(one.channel.send(text), true)
  other.channel.send('back')
  await until('all has arrived', () => other.received.length === 3 && one.received.length === 1)
  assert.deepEqual([other.received, one.received], [texts, ['back']])
})

test('to one that does not read, so much is sent and no more; all of that arrives', async (t) => {
  const { sockets, use } = await connected(t)
  const one = use(sockets[0])
  const text = 'x'.repeat(64 * 1024)
  let sent = 0
  while (one.channel.send(text)) assert.ok(++sent < 1_000, 'there is no limit')
  const other = use(sockets[1])
  await until('what was sent has arrived', () => other.received.length === sent)
  assert.equal(one.channel.send(text), true)
})

test('each side sees that the other has gone, and sends nothing after that', async (t) => {
  const [one, other] = (await connected(t)).sides()
  one.channel.close()
  await until('the other knows', () => other.isClosed && one.isClosed)
  assert.deepEqual([one.channel.send('x'), other.channel.send('x')], [false, false])
})

test('whoever else connects meanwhile is sent away, whatever comes first', async (t) => {
  const strangers: ReturnType<typeof connect>[] = []
  const ends: Promise<unknown>[] = []
  const { listen } = Server.prototype
  t.mock.method(Server.prototype, 'listen', function (this: Server, ...given: unknown[]) {
    this.once('listening', () => {
      const { port } = this.address() as { port: number }
      for (const localAddress of ['127.0.0.1', '127.0.0.2']) {
        const stranger = connect({ port, host: '127.0.0.1', localAddress })
        ends.push(once(stranger.on('error', () => {}).resume(), 'close'))
        strangers.push(stranger)
      }
    })
    return listen.apply(this, given as Parameters<typeof listen>)
  })
  const { sides } = await connected(t)
  t.mock.restoreAll()
  await Promise.all(ends)
  const [one, other] = sides()
  one.channel.send('x')
  await until('it has arrived', () => other.received.length === 1)
})
