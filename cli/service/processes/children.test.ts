// The parent's rules, with children that only pretend. Real ones are in test/e2e/processes.slow.test.ts.

import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import type { Figures } from '../../../server/telemetry/joined-figures.ts'
import { Children } from './children.ts'
import type { ToChild } from './messages.ts'
import { restartPauseMs } from './place.ts'
import type { Forked } from './serving-process.ts'

function counted(requests: number): Figures {
  const values = [{ value: requests, labels: {} }]
  return [{ name: 'requests_total', help: 'x', type: 'counter', aggregator: 'sum', values }]
}

class Pretended extends EventEmitter {
  readonly number: number
  readonly isPrepared: boolean
  readonly told: ToChild['say'][] = []
  readonly siblings: unknown[] = []
  isKilled = false
  isHung = false
  requests = 0
  metrics = ''
  readonly process = {
    pid: 1,
    kill: () => {
      this.isKilled = true
      return this.emit('exit', null, 'SIGKILL')
    },
  }

  constructor(number: number, isPrepared: boolean) {
    super()
    this.number = number
    this.isPrepared = isPrepared
  }

  isConnected(): boolean {
    return true
  }

  send(message: ToChild, socket?: string): boolean {
    if (message.say === 'sibling') this.siblings.push(socket)
    else if (message.say === 'metrics') this.metrics = message.text
    else if (message.say === 'figures') {
      if (!this.isHung) this.emit('message', { say: 'figures', figures: counted(this.requests) })
    } else if (message.say !== 'ping') this.told.push(message.say)
    else if (!this.isHung) this.emit('message', { say: 'pong' })
    return true
  }
}

const STOP_MS = 25_000
const HURRY_MS = 20_000
const NEVER = new Promise(() => {})

function pretend(t: TestContext, count: number) {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  const forked: Pretended[] = []
  let pairs = 0
  const children = new Children({
    count,
    fork: (number, isPrepared) => {
      const one = new Pretended(number, isPrepared)
      forked.push(one)
      return one as unknown as Forked
    },
    makePair: async () => {
      const pair = `pair ${++pairs}`
      return [`${pair}, one end`, `${pair}, other end`] as unknown as [Socket, Socket]
    },
    logger: pino({ level: 'silent' }),
    stopMsMax: STOP_MS,
    hurryMsMax: HURRY_MS,
  })
  const at = (index: number) => forked[index] ?? assert.fail(`no child ${index}`)
  return { children, forked, at, tick: (ms: number) => t.mock.timers.tick(ms) }
}

/** Lets what waits for promises go on. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

async function opened(t: TestContext, count: number) {
  const parts = pretend(t, count)
  const opening = parts.children.open()
  parts.at(0).emit('message', { say: 'ready' })
  assert.equal(await opening, null)
  for (const one of parts.forked.slice(1)) one.emit('message', { say: 'ready' })
  await settled()
  return parts
}

test('the first child is started alone, and the others once it is ready', async (t) => {
  const { children, forked, at } = pretend(t, 3)
  const opening = children.open()
  await settled()
  assert.equal(forked.length, 1)
  at(0).emit('message', { say: 'ready' })
  assert.equal(await opening, null)
  assert.deepEqual(
    forked.map(({ number, isPrepared }) => [number, isPrepared]),
    [
      [1, true],
      [2, true],
      [3, true],
    ],
  )
})

test('a first child that ends before it is ready ends the start, and none follows', async (t) => {
  const { children, forked, at, tick } = pretend(t, 3)
  const opening = children.open()
  at(0).emit('exit', 2, null)
  assert.equal((await opening)?.code, 2)
  tick(60_000)
  await settled()
  assert.equal(forked.length, 1)
})

test('each that becomes ready is connected with every other that serves', async (t) => {
  const { at, tick } = await opened(t, 3)
  await settled()
  assert.deepEqual(at(0).siblings, ['pair 1, other end', 'pair 2, other end'])
  assert.deepEqual(at(1).siblings, ['pair 1, one end', 'pair 3, other end'])
  assert.deepEqual(at(2).siblings, ['pair 2, one end', 'pair 3, one end'])
  at(1).emit('exit', null, 'SIGKILL')
  await settled()
  tick(400)
  assert.deepEqual(at(3).siblings, [], 'not before it serves')
  at(3).emit('message', { say: 'ready' })
  await settled()
  assert.deepEqual(at(3).siblings, ['pair 4, one end', 'pair 5, one end'])
  assert.equal(at(1).siblings.length, 2)
})

test('the pause before another start grows, and has a limit', () => {
  assert.deepEqual(
    [0, 1, 2, 3, 7, 8, 100].map(restartPauseMs),
    [200, 400, 800, 1_600, 25_600, 30_000, 30_000],
  )
})

test('a child that dies is started again under its number, later each time that it dies soon', async (t) => {
  const { forked, at, tick } = await opened(t, 2)
  at(1).emit('exit', null, 'SIGKILL')
  await settled()
  tick(399)
  assert.equal(forked.length, 2)
  tick(1)
  assert.equal(forked.length, 3)
  assert.equal(at(2).number, 2)
  assert.equal(at(2).isPrepared, false, 'it may find a database that has changed')
  at(2).emit('exit', 1, null)
  await settled()
  tick(799)
  assert.equal(forked.length, 3)
  tick(1)
  assert.equal(forked.length, 4)
})

test('a child whose event loop does not turn is killed and started again; one that answers is not', async (t) => {
  const { forked, at, tick } = await opened(t, 2)
  at(0).isHung = true
  for (let round = 0; round < 6; round++) tick(5_000)
  assert.equal(at(0).isKilled, false)
  tick(5_000)
  assert.deepEqual([at(0).isKilled, at(1).isKilled], [true, false])
  await settled()
  tick(400)
  assert.equal(forked.length, 3)
  assert.equal(at(2).number, 1)
})

test('each is replaced only when the one before has been, and the old one ends when the new one is ready', async (t) => {
  const { children, forked, at } = await opened(t, 2)
  void children.renew()
  await settled()
  assert.deepEqual([forked.length, at(0).told], [3, []])
  at(2).emit('message', { say: 'ready' })
  await settled()
  assert.deepEqual([forked.length, at(0).told], [3, ['replaced']])
  at(0).emit('exit', 0, null)
  await settled()
  assert.deepEqual([forked.length, at(3).number], [4, 2])
  at(3).emit('message', { say: 'ready' })
  await settled()
  assert.deepEqual(at(1).told, ['replaced'])
  at(1).emit('exit', 0, null)
  await settled()
  assert.equal(forked.length, 4, 'an end that was asked for starts none')
})

test('asked twice more on the way, all are replaced once more', async (t) => {
  const { children, forked, at } = await opened(t, 1)
  void children.renew()
  void children.renew()
  void children.renew()
  for (const index of [1, 2]) {
    await settled()
    at(index).emit('message', { say: 'ready' })
    await settled()
    at(index - 1).emit('exit', 0, null)
  }
  await settled()
  assert.equal(forked.length, 3)
})

test('where the new one fails, the old ones go on', async (t) => {
  const { children, forked, at, tick } = await opened(t, 2)
  void children.renew()
  await settled()
  at(2).emit('exit', 2, null)
  await settled()
  tick(60_000)
  await settled()
  assert.equal(forked.length, 3)
  assert.deepEqual([at(0).told, at(1).told], [[], []])
})

test('where the old one dies while the new one starts, there is one again, whether that fails or not', async (t) => {
  const { children, forked, at, tick } = await opened(t, 1)
  void children.renew()
  await settled()
  at(0).emit('exit', null, 'SIGKILL')
  await settled()
  tick(60_000)
  assert.equal(forked.length, 2, 'the new one is already on its way')
  at(1).emit('exit', 1, null)
  await settled()
  tick(400)
  assert.equal(forked.length, 3)
})

test('a stop is said to all, also to one that is just starting, and none is started after it', async (t) => {
  const { children, forked, at, tick } = await opened(t, 3)
  at(1).emit('exit', null, 'SIGKILL')
  void children.renew()
  await settled()
  const stopping = children.stop(NEVER)
  const running = [at(0), at(2), at(3)]
  assert.deepEqual(
    running.map(({ told }) => told),
    [['stop'], ['stop'], ['stop']],
  )
  for (const one of running) one.emit('exit', 0, null)
  assert.equal(await stopping, true)
  tick(60_000)
  await settled()
  assert.equal(forked.length, 4)
})

test('a second signal is passed on; what does not end at its limit is killed', async (t) => {
  const { children, at, tick } = await opened(t, 2)
  const insisted = Promise.withResolvers<void>()
  const stopping = children.stop(insisted.promise)
  tick(STOP_MS - 1)
  insisted.resolve()
  await settled()
  assert.deepEqual(at(0).told, ['stop', 'hurry'])
  at(0).emit('exit', 0, null)
  tick(HURRY_MS - 1)
  assert.equal(at(1).isKilled, false)
  tick(1)
  assert.equal(at(1).isKilled, true)
  assert.equal(await stopping, false)
})

test('metrics are those of all: of one that hangs as it last said, and of those that are gone what they had counted', async (t) => {
  const { at, tick } = await opened(t, 2)
  const first = at(0)
  const ask = async () => {
    first.emit('message', { say: 'metrics' })
    await settled()
    tick(2_000)
    await settled()
    return /^requests_total (\d+)$/m.exec(first.metrics)?.[1]
  }
  first.requests = 3
  at(1).requests = 4
  assert.equal(await ask(), '7')
  first.requests = 5
  at(1).requests = 100
  at(1).isHung = true
  assert.equal(await ask(), '9')
  at(1).emit('exit', null, 'SIGKILL')
  await settled()
  assert.equal(await ask(), '9', 'a sum never falls')
  tick(400)
  at(2).emit('message', { say: 'ready' })
  at(2).requests = 1
  assert.equal(await ask(), '10')
  at(2).emit('message', { say: 'last', figures: counted(2) })
  at(2).emit('exit', 0, null)
  await settled()
  assert.equal(await ask(), '11')
})
