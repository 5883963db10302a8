import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idOf, nextTick, queued, testEnvironment } from '../../../test/support/engine-parts.ts'
import { Lane } from '../lanes/lane.ts'
import { LaneDirectory } from '../lanes/lane-directory.ts'
import type { Lanes } from '../lanes/lanes.ts'
import type { Shards } from '../leases/shards.ts'
import type { DueReader } from './due-reader.ts'
import { Parking } from './parking.ts'

/** A reader whose refills end when the test says so. */
function parkingWith() {
  const world = { isFull: false, ends: [] as (() => void)[], refilled: [] as string[] }
  const reader = {
    get isFull() {
      return world.isFull
    },
    async refill(lane: Lane) {
      await new Promise<void>((resolve) => world.ends.push(resolve))
      world.refilled.push(lane.endpointId)
    },
  }
  const parking = new Parking(
    testEnvironment({}),
    {
      lanes: {} as Lanes,
      shards: {} as Shards,
      reader: reader as unknown as DueReader,
      findParked() {},
      onMoved() {},
    },
    1_000,
  )
  const lane = (number: number) => new Lane({ clientKey: 1, endpointId: idOf(number), shard: 1 })
  return { parking, world, lane }
}

test('thousands of lanes that need a refill get it a few at a time, in the order in which they asked', async () => {
  const { parking, world, lane } = parkingWith()
  for (let number = 0; number < 5_000; number++) parking.refill(lane(number), 10)
  let most = 0
  while (world.refilled.length < 5_000) {
    most = Math.max(most, world.ends.length)
    for (const end of world.ends.splice(0)) end()
    await nextTick()
  }
  assert.ok(most <= 4, `${most} at once`)
  assert.deepEqual(world.refilled.slice(0, 6), [0, 1, 2, 3, 4, 5].map(idOf))
})

test('nothing is taken up while memory is full', async () => {
  const { parking, world, lane } = parkingWith()
  world.isFull = true
  parking.refill(lane(1), 10)
  assert.equal(world.ends.length, 0)
  world.isFull = false
  parking.refillNext()
  assert.equal(world.ends.length, 1)
})

test('nothing is taken up once it is stopped', () => {
  const { parking, world, lane } = parkingWith()
  parking.stop()
  parking.refill(lane(1), 10)
  assert.equal(world.ends.length, 0)
})

/** Parks one delivery; `meanwhile` is called with its lane before the database has answered. */
async function park(meanwhile: (lane: Lane) => void) {
  const delivery = queued()
  const directory = new LaneDirectory(10)
  const lane = directory.of(delivery)
  const seen = { noted: [] as string[], searched: [] as number[] }
  const parking = new Parking(
    testEnvironment({ park: async () => meanwhile(lane) }),
    {
      lanes: {
        directory,
        feeder: { noteParked: ({ endpointId }: Lane) => void seen.noted.push(endpointId) },
      } as unknown as Lanes,
      shards: { holds: () => true, toHeld: () => [] } as unknown as Shards,
      reader: {} as DueReader,
      findParked: (shards) => void seen.searched.push(...shards),
      onMoved() {},
    },
    1_000,
  )
  parking.park([delivery])
  await nextTick()
  return { seen, lane }
}

test('a lane knows of what was parked for it', async () => {
  const { seen, lane } = await park(() => {})
  assert.deepEqual(seen, { noted: [lane.endpointId], searched: [] })
})

test('regression: what is parked of an endpoint that is found paused meanwhile is not read again and again', async () => {
  for (const state of ['none', 'parked', 'refilling']) {
    const { seen, lane } = await park(({ parked }) => {
      if (state !== 'none') parked.note()
      if (state === 'refilling') parked.beginRefill()
      parked.release()
    })
    assert.deepEqual(seen, { noted: [], searched: [lane.shard] }, state)
  }
})

test('what is written down goes one statement after the other: two could wait for the same rows', async () => {
  const world = { begun: [] as string[], ends: [] as (() => void)[] }
  const write = (what: string) => {
    world.begun.push(what)
    return new Promise<void>((resolve, reject) => {
      world.ends.push(what === 'postpone' ? () => reject(new Error('away')) : resolve)
    })
  }
  const parking = new Parking(
    testEnvironment({
      park: (held) => write(`park ${held.length}`),
      postpone: () => write('postpone'),
    }),
    {
      lanes: { directory: new LaneDirectory(10), feeder: { noteParked() {} } } as unknown as Lanes,
      shards: { holds: () => true, toHeld: (all: unknown) => all } as unknown as Shards,
      reader: {} as DueReader,
      findParked() {},
      onMoved() {},
    },
    1_000,
  )
  parking.park([queued()])
  await nextTick()
  parking.postpone([queued()], 5)
  parking.park([queued()])
  parking.park([queued()])
  await nextTick()
  assert.deepEqual(world.begun, ['park 1'])
  world.ends[0]?.()
  await nextTick()
  assert.deepEqual(world.begun, ['park 1', 'postpone'])
  world.ends[1]?.()
  await nextTick()
  assert.deepEqual(world.begun, ['park 1', 'postpone', 'park 2'], 'after one that failed, too')
})
