import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextTick, testEnvironment } from '../../../test/support/engine-parts.ts'
import { SessionSign } from './session-sign.ts'

const POLICY = { beatEveryMs: 300, provenMs: 1_000, endedMs: 1_300 }

/** A sign over sessions that the test answers, or not. */
async function startedSign() {
  const environment = testEnvironment({})
  const world = {
    opened: 0,
    closed: [] as string[],
    asked: [] as (readonly string[])[],
    beat: async (): Promise<readonly string[]> => [],
    canOpen: true,
    opensInMs: 0,
    end: () => {},
    happened: [] as string[],
  }
  environment.openSign = async (onEnd) => {
    if (!world.canOpen) throw new Error('no connection is left')
    const name = `s${++world.opened}`
    environment.clock.advance(world.opensInMs / 1_000)
    world.end = onEnd
    return {
      name,
      beat: (watched) => {
        world.asked.push(watched)
        return world.beat()
      },
      close: () => world.closed.push(name),
    }
  }
  const sign = new SessionSign(environment, POLICY, {
    onChanged: () => world.happened.push('changed'),
    onEnded: () => world.happened.push('ended'),
    onProven: () => world.happened.push('proven'),
  })
  const { own, others } = sign
  await sign.start()
  await nextTick()
  const renew = () => own.endRenewal(own.beginRenewal())
  const { clock, timers } = environment
  const ring = async (ms: number) => {
    clock.advance(ms / 1_000)
    timers.ring(ms)
    await nextTick()
  }
  return { sign, own, others, world, environment, clock, timers, renew, ring }
}

test('a session that answers its beats proves itself, from when each was sent', async () => {
  const { own, clock, renew, ring, world, sign } = await startedSign()
  assert.deepEqual(world.happened, ['changed'])
  assert.ok(sign.isHeld)
  renew()
  const startMs = clock.monotonicMs()
  assert.equal(own.provenUntilMs, startMs + 1_000)
  await ring(300)
  assert.equal(own.provenUntilMs, startMs + 1_300)
})

test('a session that ends is given up at once, and another one opened', async () => {
  const { own, world, renew, ring } = await startedSign()
  renew()
  world.end()
  assert.deepEqual(own.current, { turn: 2, name: null })
  assert.deepEqual(world.happened, ['changed', 'changed'])
  assert.equal(own.provenUntilMs, Number.NEGATIVE_INFINITY)
  await ring(0)
  assert.deepEqual(own.current, { turn: 3, name: 's2' })
  assert.deepEqual(world.closed, ['s1'])
})

test('so is one that does not answer in time; it stays open until no lease stands under it', async () => {
  const { sign, own, world, ring, renew } = await startedSign()
  renew()
  world.beat = () => new Promise(() => {})
  await ring(300)
  assert.equal(own.current.name, 's1')
  await ring(1_000)
  assert.equal(own.current.name, null)
  own.beginRenewal()
  sign.renewed()
  assert.deepEqual(world.closed, [], 'others would take its leases')
  renew()
  sign.renewed()
  assert.deepEqual(world.closed, ['s1'])
})

test('while leases stand under one that is lost, a renewal that failed is urgent, for some seconds', async () => {
  const { sign, world, renew, clock } = await startedSign()
  renew()
  assert.ok(!sign.isUrgent())
  world.end()
  clock.advance(9.999)
  assert.ok(sign.isUrgent())
  clock.advance(0.001)
  assert.ok(!sign.isUrgent())
})

test('when they are renewed without it, nothing is urgent', async () => {
  const { sign, world, renew } = await startedSign()
  renew()
  world.end()
  assert.ok(sign.isUrgent())
  renew()
  assert.ok(!sign.isUrgent())
})

test('and one that answers too late to prove anything: a process was frozen meanwhile', async () => {
  const { own, world, clock, ring } = await startedSign()
  world.beat = async () => {
    clock.advance(1)
    return []
  }
  await ring(300)
  assert.equal(own.current.name, null)
})

test('regression: one that took too long to open is not named: sending would wait for its first beat', async () => {
  const { own, world, renew, ring } = await startedSign()
  renew()
  world.opensInMs = 1_000
  world.end()
  renew()
  await ring(0)
  assert.deepEqual([own.current.name, world.closed], [null, ['s1', 's2']])
  assert.equal(own.provenUntilMs, Number.POSITIVE_INFINITY)
  world.opensInMs = 999
  await ring(250)
  assert.equal(own.current.name, 's3')
})

test('where none lasts, or can be had, the next is tried later and later', async () => {
  const { world, timers, ring, own } = await startedSign()
  world.canOpen = false
  world.end()
  const pauses: number[] = []
  for (let tries = 0; tries < 11; tries++) {
    const [ms] = timers.waitingMs
    pauses.push(ms as number)
    await ring(ms as number)
  }
  const first = [0, 250, 500, 1_000, 2_000, 4_000]
  assert.deepEqual(pauses, [...first, 8_000, 16_000, 32_000, 60_000, 60_000])
  world.canOpen = true
  await ring(60_000)
  assert.equal(own.current.name, 's2')
})

test('it asks about the signs of others with each beat, and at once when there is a new one', async () => {
  const { sign, others, world, clock, ring } = await startedSign()
  const holder = { id: 'p', name: 'x', shards: [1], early: [], endedForMs: null }
  others.read([holder], clock.monotonicMs())
  world.beat = async () => ['x']
  sign.renewed()
  await ring(0)
  assert.deepEqual(world.asked.at(-1), ['x'])
  assert.ok(world.happened.includes('ended'))
  assert.equal(others.nextGoneAtMs(17_000, clock.monotonicMs()), clock.monotonicMs() + 1_300)
  await ring(300)
  assert.deepEqual(world.asked.at(-1), [], 'what has ended is not asked about again')
})

test('leases that are renewed during a beat are asked about right after it', async () => {
  const { sign, world, timers, ring } = await startedSign()
  const slow = Promise.withResolvers<readonly string[]>()
  world.beat = () => slow.promise
  await ring(300)
  sign.renewed()
  slow.resolve([])
  await nextTick()
  assert.deepEqual(timers.waitingMs, [0])
  await ring(0)
  assert.deepEqual(timers.waitingMs, [300], 'once')
})

test('when a proof comes after the last one was over, sending goes on', async () => {
  const { world, clock, renew, ring } = await startedSign()
  renew()
  clock.advance(0.8)
  await ring(300)
  assert.equal(world.happened.at(-1), 'proven')
})

test('without a way to open one there is none, and stopped it is closed', async () => {
  const environment = testEnvironment({})
  const events = { onChanged() {}, onEnded() {}, onProven() {} }
  const none = new SessionSign(environment, POLICY, events)
  await none.start()
  assert.ok(!none.isHeld)
  assert.deepEqual(environment.timers.waitingMs, [])
  const { sign, world, timers } = await startedSign()
  sign.stop()
  assert.deepEqual(world.closed, ['s1'])
  assert.deepEqual(timers.waitingMs, [])
})
