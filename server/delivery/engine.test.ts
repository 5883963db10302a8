import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  activeEndpoint,
  engineOptions,
  idOf,
  nextTick,
  queued,
  testEnvironment,
} from '../../test/support/engine-parts.ts'
import type { AttemptResult } from '../core/delivery/callback-request.ts'
import { type RenewedLease, SHARD_COUNT } from '../core/delivery/lease.ts'
import type { HandedOff } from '../core/delivery/queued-delivery.ts'
import type { HealthDelta } from '../store/endpoints/endpoint-health.ts'
import type { LaneKey } from '../store/owed/parked.ts'
import type { ChangedEndpoint } from '../store/owed/sending-endpoints.ts'
import { Engine } from './engine.ts'

const PARKED = Number.POSITIVE_INFINITY
const HANGING = idOf(9_000_000)
/** Fresh from the transaction that made it. */
function handedOff(): HandedOff {
  const payload = { text: '{}', documentHash: null, documentBytes: null }
  return { ...queued(), hasElders: false, payload }
}

function endpoint(number: number): LaneKey {
  return { clientKey: 1, endpointId: idOf(number), shard: number % SHARD_COUNT }
}

/**
 * An engine that owns all shards, unless others hold them at first, over a store whose reads are counted and
 * end when the test says so. It sends nothing, unless it has slots.
 */
async function runningEngine({ isOwner = true, slots = 0 } = {}) {
  const world = {
    /** Others hold the shards. */
    isTaken: !isOwner,
    isAway: false,
    isSearchAway: false,
    health: [] as HealthDelta[],
    /** How much of it was written whenever shards were given up. */
    healthAtLeave: [] as number[],
    changed: [] as ChangedEndpoint[],
    parked: [] as LaneKey[],
    laneReads: [] as (readonly number[])[],
    refills: [] as string[],
    payloadReads: [] as string[],
    dueReads: 0,
    ends: [] as (() => void)[],
    send: async (_endpointId: string | null): Promise<AttemptResult> => ({
      outcome: { kind: 'answered', status: 200 },
      durationMs: 5,
    }),
  }
  const held: RenewedLease[] = []
  const environment = testEnvironment({
    renewLeases: async () => ({
      nowMs: environment.clock.nowMs(),
      held,
      others: new Map(),
      processes: new Map(),
      free: SHARD_COUNT - held.length,
      signed: [],
      server: '',
    }),
    async takeLeases(wanted) {
      if (world.isTaken) return []
      for (let shard = 0; shard < wanted; shard++) held.push({ shard, epoch: 1, beat: 1 })
      return held
    },
    async readDue() {
      world.dueReads++
      if (world.isAway) throw new Error('the database is away')
      return []
    },
    async readChangedEndpoints(_sinceMs, afterId, limit) {
      return world.changed.filter(({ endpointId }) => endpointId > afterId).slice(0, limit)
    },
    async readParkedLanes(shards) {
      world.laneReads.push(shards)
      if (world.isSearchAway) throw new Error('the database is away')
      return world.parked
    },
    async readParked({ endpointId, shard }) {
      world.refills.push(endpointId)
      await new Promise<void>((resolve) => world.ends.push(resolve))
      return [queued({ endpointId, shard, nextAttemptAtMs: PARKED })]
    },
    disableFailing: async () => [],
    park: async () => {},
    async readPayloads(keys) {
      world.payloadReads.push(...keys.map(({ eventId }) => eventId))
      return new Map()
    },
    readEndpoints: async (keys) => keys.map(activeEndpoint),
    recordOutcomes: async (records) => ({
      ids: new Set(records.map(({ id }) => id)),
      lost: [],
    }),
    async saveHealth(deltas) {
      if (world.isAway) throw new Error('away')
      world.health.push(...deltas)
    },
    releaseLeases: async () => {},
    async leave() {
      world.healthAtLeave.push(world.health.length)
    },
  })
  environment.send = ({ endpointId }) => world.send(endpointId)
  // Without a slot nothing is sent: what is taken up stays.
  const engine = new Engine(environment, engineOptions({ inFlightMax: 1, slots }))
  await engine.start()
  await nextTick()
  world.laneReads = []
  world.dueReads = 0
  const poll = async () => {
    environment.timers.ring()
    await nextTick()
  }
  return { engine, world, environment, poll }
}

test('regression: very many endpoints that change at once are read by shard', async () => {
  const { engine, world, environment, poll } = await runningEngine()
  world.changed = Array.from({ length: 25_000 }, (_, number) => ({
    ...endpoint(number + 1),
    retriedAtMs: 0,
    changedAtMs: environment.clock.nowMs(),
  }))
  await poll()
  // The maintenance, whose timer rings with all others, may ask once more.
  assert.ok(world.laneReads.length <= 2, `${world.laneReads.length} looks for parked work`)
  assert.equal(world.laneReads[0]?.length, SHARD_COUNT)
  assert.deepEqual(world.refills, [])
  assert.ok(world.dueReads <= 4, `${world.dueReads} reads of due work`)
  await engine.stop()
})

test('a few that change are asked for what they have parked, each at once', async () => {
  const { engine, world } = await runningEngine()
  engine.wake({ shards: [], endpoints: [endpoint(1), endpoint(2)] })
  assert.deepEqual(world.refills, [idOf(1), idOf(2)])
  assert.deepEqual(world.laneReads, [])
  await engine.stop()
})

test('many that another process tells of are read by shard, and only those with parked work', async () => {
  const { engine, world } = await runningEngine()
  world.parked = [endpoint(7)]
  engine.wake({
    shards: [],
    endpoints: Array.from({ length: 50 }, (_, number) => endpoint(number + 1)),
  })
  await nextTick()
  assert.equal(world.laneReads.length, 1)
  assert.deepEqual(world.refills, [idOf(7)])
  await engine.stop()
})

test('regression: a search for parked work that failed is made again with the next poll', async () => {
  const { engine, world, environment } = await runningEngine()
  world.isSearchAway = true
  const endpoints = Array.from({ length: 50 }, (_, number) => endpoint(number + 1))
  engine.wake({ shards: [], endpoints })
  await nextTick()
  assert.deepEqual(environment.warnings, ['parked-work.not-found'])
  assert.equal(world.laneReads.length, 1)
  world.isSearchAway = false
  world.parked = [endpoint(7)]
  environment.timers.ring(1_000)
  await nextTick()
  assert.deepEqual([world.laneReads.length, world.refills], [2, [idOf(7)]])
  await engine.stop()
})

test('thousands of lanes with parked work are refilled a few at a time', async () => {
  const { engine, world } = await runningEngine()
  world.parked = Array.from({ length: 3_000 }, (_, number) => endpoint(number + 1))
  engine.wake({ shards: [], endpoints: world.parked })
  let most = 0
  for (let ticks = 0; engine.inMemory < 3_000 && ticks < 5_000; ticks++) {
    await nextTick()
    most = Math.max(most, world.ends.length)
    for (const end of world.ends.splice(0)) end()
  }
  assert.equal(engine.inMemory, 3_000)
  assert.ok(most <= 4, `${most} refills at once`)
  await engine.stop()
})

test('regression: while the database is away, failures of one kind are one line every ten seconds', async () => {
  const { engine, world, environment, poll } = await runningEngine()
  world.isAway = true
  const before = world.dueReads
  for (let second = 0; second < 25; second++) {
    environment.clock.advance(1)
    await poll()
  }
  assert.ok(world.dueReads - before >= 25)
  const lines = environment.warnings.filter((message) => message === 'due-work.not-read')
  assert.equal(lines.length, 3)
  world.isAway = false
  await engine.stop()
})

test('regression: what was accepted before its shard was gained is read, not taken as handed off', async () => {
  const { engine, world, environment, poll } = await runningEngine({ isOwner: false })
  const handOff = engine.beginAccept()
  // The commit; its former owner finds the delivery, delivers it and gives the shard up; then the reply.
  environment.clock.advance(1)
  world.isTaken = false
  await poll()
  assert.equal(engine.shards.length, SHARD_COUNT)
  world.dueReads = 0
  handOff([handedOff()])
  assert.equal(engine.inMemory, 0, 'only the database knows whether it is still owed')
  await nextTick()
  assert.ok(world.dueReads > 0)
  environment.clock.advance(1)
  engine.beginAccept()([handedOff()])
  assert.equal(engine.inMemory, 1, 'ours from beginning to end: taken at once')
  await engine.stop()
})

test('what was being accepted when a sibling invited is not handed over to it: it may have read it before', async () => {
  const { engine, environment } = await runningEngine({ isOwner: false })
  const sent: string[] = []
  const end = engine.joinSibling({ send: (text) => sent.push(text) > 0, close: () => {} })
  const handOff = engine.beginAccept()
  end.receive(JSON.stringify({ form: 1, ticket: 1, shards: [handedOff().shard] }))
  sent.length = 0
  handOff([handedOff()])
  assert.deepEqual(sent, [])
  engine.beginAccept()([handedOff()])
  assert.equal(sent.length, 1)
  environment.clock.advance(1)
  await engine.stop()
})

test('regression: health that could not be written is written later, and nothing of it is lost', async () => {
  const { engine, world, environment, poll } = await runningEngine({ slots: 8 })
  const attempt = async () => {
    environment.clock.advance(1)
    engine.beginAccept()([handedOff()])
    for (let ticks = 0; ticks < 10; ticks++) await nextTick()
  }
  world.isAway = true
  await attempt()
  await poll()
  assert.ok(environment.warnings.includes('engine.poll-failed'))
  assert.deepEqual(world.health, [])
  await attempt()
  world.isAway = false
  await poll()
  assert.deepEqual(
    world.health.map(({ attempts, delivered, lastSuccessAtMs }) => [
      attempts,
      delivered,
      lastSuccessAtMs,
    ]),
    [[2, 2, environment.clock.nowMs()]],
  )
  await engine.stop()
})

test('regression: a stop writes health before the next owner can have newer', async () => {
  const { engine, world, environment } = await runningEngine({ slots: 8 })
  world.send = async (endpointId) => {
    // The last of them hangs, and the stop waits for it with all other shards given up.
    if (endpointId === HANGING) await new Promise<void>((resolve) => world.ends.push(resolve))
    return { outcome: { kind: 'answered', status: 503 }, durationMs: 5 }
  }
  environment.clock.advance(1)
  engine.beginAccept()([handedOff()])
  for (let ticks = 0; ticks < 10; ticks++) await nextTick()
  engine.beginAccept()([{ ...handedOff(), endpointId: HANGING }])
  for (let ticks = 0; ticks < 10; ticks++) await nextTick()
  const stopped = engine.stop()
  for (let ticks = 0; ticks < 10; ticks++) await nextTick()
  assert.deepEqual(world.healthAtLeave, [1])
  for (const end of world.ends) end()
  await stopped
  assert.deepEqual(world.healthAtLeave, [1, 2])
})

test('the text of a delivery that is parked leaves memory with it', async () => {
  const { engine, world, environment } = await runningEngine({ slots: 8 })
  const taken = Array.from({ length: 100 }, handedOff)
  const parked = handedOff()
  environment.clock.advance(1)
  engine.beginAccept()([...taken, parked])
  assert.equal(engine.inMemory, 100, 'the lane is full')
  const shared = { eventId: parked.eventId, endpointId: idOf(7), payload: null }
  engine.beginAccept()([{ ...handedOff(), ...shared }])
  for (let ticks = 0; ticks < 10; ticks++) await nextTick()
  assert.deepEqual(world.payloadReads, [parked.eventId])
  for (const end of world.ends) end()
  await engine.stop()
})
