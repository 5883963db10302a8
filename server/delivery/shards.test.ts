import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testEnvironment } from '../../test/support/engine-parts.ts'
import { LEASE_POLICY, type ShardEpoch } from '../core/lease.ts'
import type { Renewal } from '../store/leases.ts'
import { Shards } from './shards.ts'

/** Shards over a table of leases that this process finds as the test has left it. */
function shardsOverTable() {
  const table = new Map<number, { epoch: number; isOurs: boolean }>()
  for (let shard = 0; shard < 64; shard++) table.set(shard, { epoch: 1, isOurs: false })
  const world = {
    table,
    processes: 1,
    /** Run when a renewal has reached the database, before its answer comes back. */
    meanwhile: async () => {},
    busy: new Set<number>(),
    happened: [] as string[],
  }
  const ours = () =>
    [...table].flatMap(([shard, { epoch, isOurs }]) => (isOurs ? [{ shard, epoch }] : []))
  const environment = testEnvironment({
    async renewLeases(): Promise<Renewal> {
      await null // On its way.
      const renewal = { nowMs: 5, processes: world.processes, held: ours() }
      await world.meanwhile()
      return renewal
    },
    async takeLeases(wanted: number): Promise<readonly ShardEpoch[]> {
      const free = [...table].filter(([, lease]) => !lease.isOurs).slice(0, wanted)
      for (const [, lease] of free) {
        lease.isOurs = true
        lease.epoch++
      }
      return free.map(([shard, { epoch }]) => ({ shard, epoch }))
    },
    async releaseLeases(shards: readonly number[]) {
      for (const shard of shards)
        table.set(shard, { epoch: table.get(shard)?.epoch ?? 0, isOurs: false })
    },
    async leave() {
      world.happened.push('left')
    },
  })
  const shards = new Shards(environment, LEASE_POLICY, {
    onGained: (gained) => world.happened.push(`gained ${gained.length}`),
    onLost: (lost) => world.happened.push(`lost ${lost.length}`),
    onDatabaseTime: (nowMs, sentAtMs, receivedAtMs) =>
      world.happened.push(`time ${nowMs} after ${receivedAtMs - sentAtMs}`),
    isIdle: (shard) => !world.busy.has(shard),
  })
  return { shards, world, clock: environment.clock, ours }
}

test('alone it takes every shard, and tells the time that it was told', async () => {
  const { shards, world } = shardsOverTable()
  await shards.renew()
  assert.equal(shards.held.length, 64)
  assert.deepEqual(world.happened, ['time 5 after 0', 'gained 64'])
  assert.equal(shards.epochOf(3), 2)
  assert.ok(shards.isHeld(3, 2))
  assert.ok(!shards.isHeld(3, 1), 'an older epoch is not ours')
})

test('a lease counts from the moment the renewal was sent, not from its answer', async () => {
  const { shards, world, clock } = shardsOverTable()
  await shards.renew()
  world.meanwhile = async () => clock.advance(8)
  await shards.renew()
  assert.ok(world.happened.includes('time 5 after 8000'))
  // 25 s, of which 8 are gone: room for an attempt of 15 s and its recording for one more second.
  assert.ok(shards.maySend(3))
  clock.advance(0.999)
  assert.ok(shards.maySend(3))
  clock.advance(0.001)
  assert.ok(!shards.maySend(3))
  assert.ok(shards.isHeld(3, 2), 'what was sent may still be recorded')
  clock.advance(15.999)
  assert.ok(shards.isHeld(3, 2))
  clock.advance(0.001)
  assert.ok(!shards.isHeld(3, 2))
})

test('F3: whoever stalls beyond its lease falls silent by itself', async () => {
  const { shards, world, clock } = shardsOverTable()
  await shards.renew()
  shards.expire()
  assert.equal(shards.held.length, 64)
  clock.advance(25)
  shards.expire()
  assert.deepEqual(shards.held, [])
  assert.ok(!shards.maySend(3))
  assert.equal(world.happened.at(-1), 'lost 64')
})

test('what another process has taken is lost; under a new epoch it is lost and gained anew', async () => {
  const { shards, world } = shardsOverTable()
  await shards.renew()
  world.processes = 64
  world.busy = new Set(shards.held)
  world.table.set(3, { epoch: 9, isOurs: false })
  world.table.set(4, { epoch: 9, isOurs: true })
  world.happened.length = 0
  await shards.renew()
  assert.ok(!shards.holds(3))
  assert.equal(shards.epochOf(4), 9)
  assert.deepEqual(world.happened.slice(1), ['lost 2', 'gained 1'])
})

test('a shard whose take-over was answered to nobody is adopted with the next renewal', async () => {
  const { shards, world } = shardsOverTable()
  world.processes = 64
  world.table.set(11, { epoch: 5, isOurs: true })
  await shards.renew()
  assert.deepEqual(shards.held, [11])
  assert.equal(shards.epochOf(11), 5)
})

test('when others come it gives up to a fair share, idle shards at once', async () => {
  const { shards, world, ours } = shardsOverTable()
  await shards.renew()
  world.processes = 3
  await shards.renew()
  assert.equal(shards.held.length, 22)
  assert.equal(ours().length, 22)
  world.processes = 2
  await shards.renew()
  assert.equal(shards.held.length, 32)
})

test('a busy shard starts nothing new and goes when it is idle', async () => {
  const { shards, world } = shardsOverTable()
  await shards.renew()
  world.processes = 64
  world.busy = new Set(shards.held)
  await shards.renew()
  assert.equal(shards.held.length, 64)
  assert.equal(shards.held.filter((shard) => shards.maySend(shard)).length, 1)
  assert.ok(shards.isHeld(0, 2), 'its outcomes are still recorded')
  world.busy.clear()
  await shards.renew()
  assert.equal(shards.held.length, 1)
})

test('when the others go away again, shards that were to leave stay', async () => {
  const { shards, world } = shardsOverTable()
  await shards.renew()
  world.processes = 64
  world.busy = new Set(shards.held)
  await shards.renew()
  world.processes = 1
  await shards.renew()
  assert.ok(shards.held.every((shard) => shards.maySend(shard)))
})

test('F19: stopping hands everything over and leaves', async () => {
  const { shards, world, ours } = shardsOverTable()
  await shards.renew()
  await shards.releaseAll()
  assert.deepEqual(shards.held, [])
  assert.deepEqual(ours(), [])
  assert.deepEqual(world.happened.slice(-2), ['lost 64', 'left'])
})

test('regression: F19, a renewal under way while stopping takes nothing behind our back', async () => {
  const { shards, world, ours } = shardsOverTable()
  let stopping: Promise<void> | undefined
  world.meanwhile = async () => {
    stopping ??= shards.releaseAll()
  }
  await shards.renew()
  await stopping
  assert.deepEqual(ours(), [])
  assert.deepEqual(shards.held, [])
  assert.equal(world.happened.at(-1), 'left')
})

test('a renewal that fails changes nothing, and stopping does not wait for its success', async () => {
  const { shards, world } = shardsOverTable()
  await shards.renew()
  world.meanwhile = () => Promise.reject(new Error('away'))
  await assert.rejects(shards.renew(), /away/)
  assert.equal(shards.held.length, 64)
  await shards.releaseAll()
})
