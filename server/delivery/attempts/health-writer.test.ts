import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idOf, testEnvironment } from '../../../test/support/engine-parts.ts'
import type { Outcome } from '../../core/delivery/delivery.ts'
import type { ShownHealth } from '../../core/delivery/health.ts'
import { SHARD_COUNT } from '../../core/delivery/lease.ts'
import type { HealthDelta } from '../../store/endpoints/endpoint-health.ts'
import { LaneDirectory } from '../lanes/lane-directory.ts'
import { HealthCounter } from './health-counter.ts'
import { HealthWriter } from './health-writer.ts'

const OK: Outcome = { kind: 'answered', status: 200 }
const BUSY: Outcome = { kind: 'answered', status: 503 }
const POLL_SECONDS = 1

function writing() {
  const world = {
    written: [] as HealthDelta[],
    asked: 0,
    failing: new Map<string, ShownHealth>(),
    isAway: false,
  }
  const environment = testEnvironment({
    async saveHealth(deltas) {
      if (world.isAway) throw new Error('away')
      world.written.push(...deltas)
    },
    async readShownHealth(keys) {
      world.asked += keys.length
      return world.failing
    },
  })
  const counter = new HealthCounter()
  const writer = new HealthWriter(environment, counter, new LaneDirectory(10))
  const count = (number: number, outcome = OK) => {
    const of = { clientKey: 1, endpointId: idOf(number), shard: number % SHARD_COUNT }
    counter.count(of, outcome, 3, environment.clock.nowMs())
  }
  /** What one poll writes. */
  const poll = async () => {
    environment.clock.advance(POLL_SECONDS)
    world.written = []
    await writer.write()
    return world.written
  }
  return { world, count, poll, writer, counter }
}

test('of a few endpoints each poll writes all, and nothing is asked', async () => {
  const { world, count, poll } = writing()
  for (let number = 0; number < 100; number++) count(number)
  assert.equal((await poll()).length, 100)
  assert.deepEqual(await poll(), [])
  assert.equal(world.asked, 0)
})

test('of thousands that are well each is written once a minute, a share with each poll', async () => {
  const { world, count, poll } = writing()
  const seen = new Set<string>()
  let total = 0
  let most = 0
  for (let second = 0; second <= 60; second++) {
    if (second % 10 === 0) for (let number = 0; number < 10_000; number++) count(number)
    const written = await poll()
    most = Math.max(most, written.length)
    total += written.length
    for (const { endpointId } of written) seen.add(endpointId)
  }
  assert.equal(seen.size, 10_000)
  assert.ok(total < 10_500, `${total} in a minute`)
  assert.ok(most < 500, `${most} in one poll`)
  assert.equal(world.asked, 10_000, 'each was asked about once')
})

test('among thousands a failure, and its end, are written with the next poll', async () => {
  const { count, poll } = writing()
  const all = () => {
    for (let number = 0; number < 10_000; number++) count(number)
  }
  all()
  await poll()
  count(9_999, BUSY)
  const began = await poll()
  assert.ok(began.some((delta) => delta.endpointId === idOf(9_999) && delta.failingSinceMs))
  all()
  const ended = await poll()
  assert.ok(ended.some((delta) => delta.endpointId === idOf(9_999) && !delta.failingSinceMs))
})

test('an endpoint that a former owner saw fail is shown as well again with the next poll', async () => {
  const { world, count, poll, writer } = writing()
  world.failing.set(idOf(9_998), {
    isFailing: true,
    error: 'timeout',
    circuit: 'OPEN',
    nextProbeAtMs: 1,
  })
  for (let number = 0; number < 10_000; number++) count(number)
  const written = await poll()
  assert.ok(written.some(({ endpointId }) => endpointId === idOf(9_998)))
  // Shards came back from another owner, which has seen one fail.
  world.failing.clear()
  world.failing.set(idOf(9_997), {
    isFailing: true,
    error: 'timeout',
    circuit: 'OPEN',
    nextProbeAtMs: 1,
  })
  writer.forgetShown()
  for (let number = 0; number < 10_000; number++) count(number)
  assert.ok((await poll()).some(({ endpointId }) => endpointId === idOf(9_997)))
})

test('what could not be written stays, and the end writes everything', async () => {
  const { world, count, poll, writer, counter } = writing()
  for (let number = 0; number < 10_000; number++) count(number, number === 7 ? BUSY : OK)
  world.isAway = true
  await assert.rejects(poll())
  assert.equal(counter.size, 10_000)
  world.isAway = false
  assert.ok((await poll()).some(({ endpointId }) => endpointId === idOf(7)))
  const left = counter.size
  world.written = []
  await writer.writeAll()
  assert.equal(world.written.length, left)
  assert.equal(counter.size, 0)
})
