// The engine and its leases: what happens to work whose shard turns out to be another's, and when.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  activeEndpoint,
  engineOptions,
  nextTick,
  queued,
  testEnvironment,
} from '../../../test/support/engine-parts.ts'
import type { CallbackRequest } from '../../core/delivery/callback-request.ts'
import { type RenewedLease, SHARD_COUNT } from '../../core/delivery/lease.ts'
import type { Recorded } from '../../store/owed/outcomes.ts'
import { Engine } from '../engine.ts'

/** An engine that owns all shards; one delivery is due, and stays due in the database. */
async function engineWithOneDue() {
  const delivery = queued()
  const world = {
    delivery,
    sent: [] as CallbackRequest[],
    answer: (): Recorded => ({ ids: new Set(), lost: [] }),
    renewals: 0,
    releases: [] as number[][],
    left: [] as number[][],
    processes: new Map<string, string>(),
    ends: [] as (() => void)[],
  }
  let held: RenewedLease[] = []
  const environment = testEnvironment({
    async renewLeases() {
      world.renewals++
      return {
        nowMs: environment.clock.nowMs(),
        held,
        others: new Map(),
        processes: world.processes,
        free: SHARD_COUNT - held.length,
        signed: [],
        server: '',
      }
    },
    async takeLeases(wanted) {
      held = Array.from({ length: wanted }, (_, shard) => ({ shard, epoch: 1, beat: 1 }))
      return held
    },
    async releaseLeases(leases) {
      world.releases.push(leases.map(({ shard }) => shard))
      held = held.filter(({ shard }) => !leases.some((lease) => lease.shard === shard))
    },
    async leave(busy) {
      world.left.push([...busy])
    },
    readDue: async (cursors) =>
      cursors.some(({ shard, afterMs }) => shard === delivery.shard && afterMs <= 0)
        ? [{ ...delivery }]
        : [],
    readStrands: async () => [{ ...delivery }],
    readChangedEndpoints: async () => [],
    readParkedLanes: async () => [],
    readEndpoints: async (keys) => keys.map(activeEndpoint),
    readPayloads: async (keys) =>
      new Map(
        keys.map(({ eventId }) => [
          eventId,
          { text: '{"a":1}', documentHash: null, documentBytes: null },
        ]),
      ),
    recordOutcomes: async () => world.answer(),
    saveHealth: async () => {},
    disableFailing: async () => [],
  })
  environment.send = (request) => {
    world.sent.push(request)
    return new Promise((resolve) =>
      world.ends.push(() => resolve({ outcome: { kind: 'answered', status: 200 }, durationMs: 5 })),
    )
  }
  const engine = new Engine(environment, engineOptions({ inFlightMax: 8, slots: 8 }))
  await engine.start()
  const settle = async () => {
    for (let ticks = 0; ticks < 20; ticks++) await nextTick()
  }
  await settle()
  const answerAll = async () => {
    for (let rounds = 0; rounds < 5; rounds++) {
      for (const end of world.ends.splice(0)) end()
      await settle()
    }
  }
  return { engine, world, environment, settle, answerAll }
}

test('regression: an attempt whose record is refused for its epoch is not sent again', async () => {
  const { engine, world, answerAll } = await engineWithOneDue()
  assert.equal(world.sent.length, 1)
  world.answer = () => ({ ids: new Set(), lost: [{ shard: world.delivery.shard, epoch: 1 }] })
  await answerAll()
  assert.equal(world.sent.length, 1)
  assert.ok(!engine.shards.includes(world.delivery.shard))
  assert.equal(engine.shards.length, SHARD_COUNT - 1, 'no other shard is lost by it')
  assert.equal(engine.inMemory, 0)
  await engine.stop()
})

test('one that was merely ended by others keeps its shard', async () => {
  const { engine, world, environment } = await engineWithOneDue()
  environment.store.readStrands = async () => []
  for (const end of world.ends.splice(0)) end()
  await nextTick()
  assert.equal(engine.shards.length, SHARD_COUNT)
  await engine.stop()
})

test('when leases have moved, it renews at once', async () => {
  const { engine, world, environment, settle } = await engineWithOneDue()
  environment.clock.advance(1)
  engine.wake({ shards: [], endpoints: [], leases: true })
  assert.ok(environment.timers.waitingMs.includes(0))
  environment.timers.ring()
  await settle()
  assert.equal(world.renewals, 2)
  await Promise.all([engine.stop(), ...world.ends.map(async (end) => end())])
})

test('a busy shard that is to leave goes when its attempt is settled, not a round later', async () => {
  const { engine, world, environment, settle, answerAll } = await engineWithOneDue()
  // Others come, and all but one shard has to go; ours is under way.
  for (let n = 0; n < 63; n++) world.processes.set(`p${n}`, '1')
  environment.clock.advance(1)
  engine.wake({ shards: [], endpoints: [], leases: true })
  environment.timers.ring()
  await settle()
  assert.equal(world.releases[0]?.length, 62)
  assert.deepEqual(engine.shards.toSorted(), [1, 63])
  environment.clock.advance(1)
  world.answer = () => ({ ids: new Set([world.delivery.id]), lost: [] })
  await answerAll()
  assert.ok(environment.timers.waitingMs.includes(0), 'an early renewal is scheduled')
  environment.timers.ring()
  await settle()
  assert.deepEqual(world.releases[1], [1])
  await engine.stop()
})

test('regression: an attempt that takes long holds up the hand-over of its own shard only', async () => {
  const { engine, world, settle } = await engineWithOneDue()
  const stopping = engine.stop()
  await settle()
  assert.deepEqual(world.left, [[world.delivery.shard]])
  world.answer = () => ({ ids: new Set([world.delivery.id]), lost: [] })
  for (const end of world.ends.splice(0)) end()
  await stopping
  assert.deepEqual(world.left, [[world.delivery.shard], []])
})
