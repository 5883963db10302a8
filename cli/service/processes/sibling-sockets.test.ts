// The connection between two serving processes, with both ends in this one.

import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { SiblingChannel } from '../../../server/delivery/seams/sibling-channel.ts'
import { until } from '../../../test/support/until.ts'
import { makeSocketPair, useSocket } from './sibling-sockets.ts'

async function connected(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'paybell-siblings-'))
  t.after(() => rm(folder, { recursive: true }))
  const sockets = await makeSocketPair(folder)
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
    folder,
    sockets,
    use,
    sides: () => sockets.map(use) as [ReturnType<typeof use>, ReturnType<typeof use>],
  }
}

test('texts arrive whole and in order, both ways, and nothing is left on disk', async (t) => {
  const { folder, sides } = await connected(t)
  assert.deepEqual(await readdir(folder), [])
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
