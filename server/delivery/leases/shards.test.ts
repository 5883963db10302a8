import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testEnvironment } from '../../../test/support/engine-parts.ts'
import { LEASE_POLICY, type RenewedLease } from '../../core/delivery/lease.ts'
import {
  type EndedSign,
  OthersSigns,
  OwnSign,
  type SignedProcess,
} from '../../core/delivery/session-signs.ts'
import type { Renewal } from '../../store/owed/leases.ts'
import { type ShardEvents, Shards } from './shards.ts'

const OURS = 'ours'

interface Row {
  epoch: number
  beat: number
  owner: string | null
  isEarly?: boolean
}

/** Shards over a table of leases that this process finds as the test has left it. */
function shardsOverTable() {
  const table = new Map<number, Row>()
  for (let shard = 0; shard < 64; shard++) table.set(shard, { epoch: 1, beat: 0, owner: null })
  const world = {
    table,
    /** Other processes, with the mark of each. */
    processes: new Map<string, string>(),
    forgotten: [] as string[],
    /** Run when a renewal has reached the database, before its answer comes back. */
    duringRenewal: async () => {},
    busy: new Set<number>(),
    happened: [] as string[],
    takes: 0,
    loseTaking: false,
    signed: [] as SignedProcess[],
    server: 'server',
    ended: [] as readonly EndedSign[],
    announced: 0,
  }
  const ours = () => [...table].flatMap(([shard, row]) => (row.owner === OURS ? [shard] : []))
  const renewed = (shard: number): RenewedLease => {
    const row = table.get(shard) as Row
    row.beat++
    return { shard, epoch: row.epoch, beat: row.beat }
  }
  const mark = ({ epoch, beat }: Row) => `${epoch}/${beat}`
  const environment = testEnvironment({
    async renewLeases(gone, _sign, settled, ended): Promise<Renewal> {
      await null // On its way.
      world.ended = ended
      for (const { shard, epoch } of settled) {
        const row = table.get(shard) as Row
        if (row.epoch === epoch) row.isEarly = false
      }
      for (const id of gone.keys()) {
        world.forgotten.push(id)
        world.processes.delete(id)
      }
      const others = [...table].filter(([, { owner }]) => owner !== null && owner !== OURS)
      const renewal = {
        nowMs: 5,
        held: ours().map(renewed),
        others: new Map(others.map(([shard, row]) => [shard, mark(row)])),
        processes: new Map(world.processes),
        free: [...table.values()].filter(({ owner }) => owner === null).length,
        signed: world.signed,
        server: world.server,
      }
      await world.duringRenewal()
      return renewal
    },
    async takeLeases(wanted, silent, early) {
      world.takes++
      const free = [...table].filter(
        ([shard, row]) => row.owner === null || silent.get(shard) === mark(row),
      )
      const taken = free.slice(0, wanted).map(([shard, row]) => {
        row.owner = OURS
        row.epoch++
        row.isEarly = early.includes(shard)
        return renewed(shard)
      })
      if (world.loseTaking) throw new Error('the answer is lost')
      return taken
    },
    async releaseLeases(leases) {
      for (const { shard, beat } of leases) {
        const row = table.get(shard) as Row
        if (row.beat === beat) row.owner = null
      }
    },
    async leave(busy) {
      for (const [shard, row] of table) {
        if (row.owner === OURS && !busy.includes(shard)) row.owner = null
      }
      world.happened.push('left')
    },
  })
  /** How far the cautious clock is ahead of the monotonic one. */
  const ahead = { ms: 0 }
  environment.cautiousMs = () => environment.clock.monotonicMs() + ahead.ms
  environment.wakeUps = {
    announceWork() {},
    announceEndpoint() {},
    announceLeases: () => world.announced++,
  }
  const signs = { own: new OwnSign(LEASE_POLICY.sign), others: new OthersSigns(LEASE_POLICY.sign) }
  const events: ShardEvents = {
    onGained: (gained) => world.happened.push(`gained ${gained.length}`),
    onLost: (lost) => world.happened.push(`lost ${lost.length}`),
    onDatabaseTime: (nowMs, sentAtMs, receivedAtMs) =>
      world.happened.push(`time ${nowMs} after ${receivedAtMs - sentAtMs}`),
    isIdle: (shard) => !world.busy.has(shard),
  }
  const shards = new Shards(environment, LEASE_POLICY, events, signs)
  /** So many processes in all, the others alive. */
  const crowd = (processes: number) => {
    world.processes = new Map(
      Array.from({ length: processes - 1 }, (_, n) => [`p${n}`, `${Math.random()}`]),
    )
  }
  return { shards, world, clock: environment.clock, ours, ahead, crowd, signs }
}

test('alone it takes every shard, and passes on the time that it was given', async () => {
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
  world.duringRenewal = async () => clock.advance(8)
  await shards.renew()
  assert.ok(world.happened.includes('time 5 after 8000'))
  // 25 s, of which 8 are gone: room for an attempt of 15 s and its recording for one more second.
  assert.ok(shards.maySend(3))
  const leftMs = () => shards.beginByMs(3) - clock.monotonicMs()
  assert.equal(leftMs(), 1_000)
  clock.advance(0.999)
  assert.ok(shards.maySend(3))
  clock.advance(0.001)
  assert.ok(!shards.maySend(3))
  assert.equal(leftMs(), 0, 'a fact of the lease: it comes nearer')
  assert.ok(shards.isHeld(3, 2), 'what was sent may still be recorded')
  clock.advance(15.999)
  assert.ok(shards.isHeld(3, 2))
  clock.advance(0.001)
  assert.ok(!shards.isHeld(3, 2))
})

test('F3: a process that stalls beyond its lease stops sending on its own', async () => {
  const { shards, world, clock } = shardsOverTable()
  await shards.renew()
  shards.expire()
  assert.equal(shards.held.length, 64)
  clock.advance(25)
  shards.expire()
  assert.deepEqual(shards.held, [])
  assert.ok(!shards.maySend(3))
  assert.equal(shards.beginByMs(3), Number.NEGATIVE_INFINITY)
  assert.equal(world.happened.at(-1), 'lost 64')
})

test('what another process has taken is lost; under a new epoch it is lost and gained again', async () => {
  const { shards, world, crowd } = shardsOverTable()
  await shards.renew()
  crowd(64)
  world.busy = new Set(shards.held)
  world.table.set(3, { epoch: 9, beat: 1, owner: 'another' })
  world.table.set(4, { epoch: 9, beat: 1, owner: OURS })
  world.happened.length = 0
  await shards.renew()
  assert.ok(!shards.holds(3))
  assert.equal(shards.epochOf(4), 9)
  assert.deepEqual(world.happened.slice(1), ['lost 2', 'gained 1'])
})

test('a shard whose take-over got no answer is adopted with the next renewal', async () => {
  const { shards, world, crowd } = shardsOverTable()
  crowd(64)
  world.table.set(11, { epoch: 5, beat: 1, owner: OURS })
  await shards.renew()
  assert.ok(shards.holds(11))
  assert.equal(shards.epochOf(11), 5)
})

test('when others come it gives up to a fair share, idle shards at once', async () => {
  const { shards, ours, crowd } = shardsOverTable()
  await shards.renew()
  crowd(3)
  await shards.renew()
  assert.equal(shards.held.length, 22)
  assert.equal(ours().length, 22)
  crowd(2)
  await shards.renew()
  assert.equal(shards.held.length, 32)
})

test('a busy shard starts nothing new and goes when it is idle', async () => {
  const { shards, world, crowd } = shardsOverTable()
  await shards.renew()
  crowd(64)
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
  const { shards, world, crowd } = shardsOverTable()
  await shards.renew()
  crowd(64)
  world.busy = new Set(shards.held)
  await shards.renew()
  crowd(1)
  await shards.renew()
  assert.ok(shards.held.every((shard) => shards.maySend(shard)))
})

test('F19: stopping hands everything over and leaves', async () => {
  const { shards, world, ours } = shardsOverTable()
  await shards.renew()
  await shards.leave()
  assert.deepEqual(shards.held, [])
  assert.deepEqual(ours(), [])
  assert.deepEqual(world.happened.slice(-2), ['lost 64', 'left'])
})

test('regression: stopping hands over what is idle, and the rest when it is settled', async () => {
  const { shards, world, ours } = shardsOverTable()
  await shards.renew()
  world.busy = new Set([4, 9])
  await shards.leave()
  assert.deepEqual(ours(), [4, 9])
  assert.ok(shards.isHeld(9, 2), 'what is under way there is still recorded')
  world.busy.clear()
  await shards.leave()
  assert.deepEqual(ours(), [])
})

test('regression: F19, a renewal under way while stopping takes nothing', async () => {
  const { shards, world, ours } = shardsOverTable()
  let stopping: Promise<void> | undefined
  world.duringRenewal = async () => {
    stopping ??= shards.leave()
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
  world.duringRenewal = () => Promise.reject(new Error('away'))
  await assert.rejects(shards.renew(), /away/)
  assert.equal(shards.held.length, 64)
  await shards.leave()
})

/** A world in which another process owns every shard, and shows life when the test says so. */
async function besideAnother() {
  const stage = shardsOverTable()
  const { world, shards } = stage
  for (const row of world.table.values()) Object.assign(row, { owner: 'another', epoch: 4 })
  world.processes.set('another', '1')
  await shards.renew()
  const beat = () => {
    for (const row of world.table.values()) if (row.owner === 'another') row.beat++
    world.processes.set('another', `${Math.random()}`)
  }
  return { ...stage, beat }
}

test('regression: a lease of another is taken when it was silent for a whole lease on our own clock', async () => {
  const { shards, world, clock, beat } = await besideAnother()
  clock.advance(24.9)
  beat()
  await shards.renew()
  clock.advance(24.999)
  await shards.renew()
  assert.deepEqual(shards.held, [])
  assert.equal(world.takes, 0, 'nothing is asked for in vain')
  clock.advance(0.001)
  await shards.renew()
  assert.equal(shards.held.length, 64)
  assert.equal(shards.epochOf(9), 5)
})

test('silence counts from the receipt of the first reading, and its end is known in advance', async () => {
  const stage = shardsOverTable()
  const { world, shards, clock } = stage
  for (const row of world.table.values()) row.owner = 'another'
  world.duringRenewal = async () => clock.advance(8)
  await shards.renew()
  assert.equal(shards.nextSilentAtMs, clock.monotonicMs() + LEASE_POLICY.leaseMs)
})

test('a clock that jumps ahead makes us fall silent; it never makes us take', async () => {
  const { shards, world, clock, ahead, beat } = await besideAnother()
  beat()
  await shards.renew()
  clock.advance(1)
  ahead.ms += 3_600_000
  await shards.renew()
  assert.deepEqual(shards.held, [])
  assert.equal(world.takes, 0)
})

test('regression: after a sleep nothing is begun before a renewal, and nothing of ours is thrown away', async () => {
  const { shards, world, ahead } = shardsOverTable()
  await shards.renew()
  assert.ok(shards.maySend(3))
  world.happened.length = 0
  ahead.ms += 40_000
  assert.ok(!shards.maySend(3))
  assert.ok(shards.isHeld(3, 2), 'what was sent is recorded: the database knows whether it may be')
  shards.expire()
  await shards.renew()
  assert.ok(shards.maySend(3))
  assert.deepEqual(world.happened, ['time 5 after 0'])
})

test('a renewal that was under way while the machine slept counts from before', async () => {
  const { shards, world, ahead } = shardsOverTable()
  await shards.renew()
  world.duringRenewal = async () => {
    ahead.ms += 40_000
  }
  await shards.renew()
  assert.ok(!shards.maySend(3))
})

test('regression: a record that is refused loses the shard at once, and no older renewal brings it back', async () => {
  const { shards, world, clock } = shardsOverTable()
  await shards.renew()
  world.happened.length = 0
  shards.refused({ shard: 3, epoch: 1 })
  assert.ok(shards.maySend(3), 'another epoch than ours')
  // A renewal was made before the take-over, and its answer comes after the refusal.
  world.duringRenewal = async () => shards.refused({ shard: 3, epoch: 2 })
  await shards.renew()
  assert.ok(!shards.holds(3))
  assert.deepEqual(world.happened, ['lost 1', 'time 5 after 0'])
  world.duringRenewal = async () => {}
  world.table.set(3, { epoch: 8, beat: 1, owner: null })
  clock.advance(1)
  await shards.renew()
  assert.equal(shards.epochOf(3), 9, 'what is taken after the refusal is ours')
})

test('regression: after a fail-over that lost a take-over, the shard is served under the same epoch again', async () => {
  const { shards, world, clock } = shardsOverTable()
  await shards.renew()
  const epoch = shards.epochOf(3) as number
  // The standby knows nothing of our lease, and refuses what was sent under it.
  world.table.set(3, { epoch: epoch - 1, beat: 1, owner: null })
  shards.refused({ shard: 3, epoch })
  clock.advance(3)
  await shards.renew()
  assert.equal(world.table.get(3)?.owner, OURS)
  assert.equal(shards.epochOf(3), epoch, 'owned and renewed, so it must be served')
})

test('a process that shows no life for 10 s is not counted, and after a lease it is forgotten', async () => {
  const { shards, world, clock } = await besideAnother()
  clock.advance(9.999)
  for (const row of world.table.values()) row.owner = null
  await shards.renew()
  assert.equal(shards.held.length, 32)
  clock.advance(0.001)
  await shards.renew()
  assert.equal(shards.held.length, 64)
  assert.deepEqual(world.forgotten, [])
  clock.advance(15)
  await shards.renew()
  assert.deepEqual(world.forgotten, ['another'])
})

test('it tells when it has come, when it has given shards up and when it goes', async () => {
  const { shards, world, crowd } = shardsOverTable()
  await shards.renew()
  assert.equal(world.announced, 1)
  await shards.renew()
  assert.equal(world.announced, 1)
  crowd(2)
  world.busy = new Set(shards.held)
  await shards.renew()
  assert.equal(world.announced, 1, 'nothing was given up yet')
  assert.ok(shards.isGivingAway)
  world.busy.clear()
  await shards.renew()
  assert.equal(world.announced, 2)
  assert.ok(!shards.isGivingAway)
  await shards.leave()
  assert.equal(world.announced, 3)
})

test('regression: a process that starts after a crash tells how many shards wait for the leases of the dead one', async () => {
  const { world, shards, clock } = shardsOverTable()
  for (const row of world.table.values()) row.owner = 'dead'
  await shards.renew()
  assert.equal(shards.awaited, 0, 'its beat may come any moment')
  clock.advance(7)
  await shards.renew()
  assert.deepEqual([shards.awaited, shards.held.length], [64, 0])
  clock.advance(25)
  await shards.renew()
  await shards.renew()
  assert.deepEqual([shards.awaited, shards.held.length], [0, 64])
})

/** Another process had all shards under a sign, which we have just seen to have ended. */
async function afterAnEnd() {
  const made = shardsOverTable()
  const { shards, world, clock, signs } = made
  for (const row of world.table.values()) row.owner = 'dead'
  world.processes.set('dead', '1')
  const all = [...world.table.keys()]
  world.signed = [{ id: 'dead', name: 'server/1', shards: all, early: [], endedForMs: null }]
  // Proven for good: how long a proof lasts is another matter.
  signs.own.change('server/2', clock.monotonicMs() + 1e9)
  await shards.renew()
  assert.deepEqual(shards.held, [])
  signs.others.end(['server/1'], clock.monotonicMs())
  return made
}

test('leases of a process whose session has ended are taken long before their time, not at once', async () => {
  const { shards, clock } = await afterAnEnd()
  const { endedMs } = LEASE_POLICY.sign
  assert.equal(shards.nextSilentAtMs, clock.monotonicMs() + endedMs)
  clock.advance((endedMs - 1) / 1_000)
  await shards.renew()
  assert.deepEqual(shards.held, [])
  clock.advance(0.001)
  await shards.renew()
  assert.equal(shards.held.length, 64, 'it is not counted among those who share them, either')
})

test('one that has renewed under another sign keeps them', async () => {
  const { shards, world, clock } = await afterAnEnd()
  for (const row of world.table.values()) row.beat++
  world.signed = world.signed.map((one) => ({ ...one, name: 'server/3' }))
  world.processes.set('dead', '2')
  clock.advance(5)
  await shards.renew()
  assert.deepEqual(shards.held, [])
})

test('what was taken early has an aftermath, until the attempts of its last owner are over', async () => {
  const { shards, clock, crowd, world } = await afterAnEnd()
  clock.advance(2)
  await shards.renew()
  assert.equal(shards.aftermathMs(3), 15_000)
  assert.equal(shards.longestAftermathMs, 15_000)
  assert.ok(shards.maySend(3))
  crowd(64)
  await shards.renew()
  assert.equal(shards.held.length, 64, 'another owner would not know of it')
  assert.ok(shards.maySend(3), 'and meanwhile it is served')
  await shards.leave()
  assert.equal(shards.held.length, 64)
  clock.advance(14.999)
  assert.equal(shards.aftermathMs(3), 1)
  clock.advance(0.001)
  assert.equal(shards.longestAftermathMs, 0)
  world.happened.length = 0
  await shards.leave()
  assert.deepEqual(world.happened, ['lost 64', 'left'])
})

test('also where the answer to the take-over got lost', async () => {
  const { shards, world, clock } = await afterAnEnd()
  clock.advance(2)
  world.loseTaking = true
  await assert.rejects(shards.renew())
  world.loseTaking = false
  await shards.renew()
  assert.equal(shards.held.length, 64)
  assert.equal(shards.aftermathMs(3), 15_000)
})

test('while it has an aftermath the lease says so, and the next owner does not go by its sign', async () => {
  const { shards, world, clock } = await afterAnEnd()
  world.table.set(9, { epoch: 1, beat: 0, owner: null })
  const early = () => [...world.table.values()].filter(({ isEarly }) => isEarly).length
  clock.advance(2)
  await shards.renew()
  assert.equal(early(), 63, 'not the one that was free')
  clock.advance(14.999)
  await shards.renew()
  assert.equal(early(), 63)
  world.duringRenewal = () => Promise.reject(new Error('away'))
  clock.advance(0.001)
  world.table.set(5, { epoch: 7, beat: 0, owner: OURS, isEarly: true })
  await assert.rejects(shards.renew(), /away/)
  assert.equal(early(), 1, 'this one is under another epoch')
})

test('a second death: what the dead one had taken early is to be had when its last attempt is over, and has no aftermath', async () => {
  const { shards, world, clock } = await afterAnEnd()
  world.signed = world.signed.map((one) => ({ ...one, shards: [], early: [...world.table.keys()] }))
  await shards.renew()
  assert.deepEqual(world.ended, [{ id: 'dead', name: 'server/1', forMs: 0 }])
  clock.advance(16.999)
  await shards.renew()
  assert.deepEqual(shards.held, [])
  assert.deepEqual(world.ended, [{ id: 'dead', name: 'server/1', forMs: 16_999 }])
  assert.equal(shards.nextSilentAtMs, clock.monotonicMs() + 1)
  clock.advance(0.001)
  await shards.renew()
  assert.equal(shards.held.length, 64)
  assert.equal(shards.longestAftermathMs, 0)
  assert.ok([...world.table.values()].every(({ isEarly }) => isEarly === false))
})

test('a second death: who did not live to see the end goes on from what others have written down', async () => {
  const { shards, world, clock, signs } = shardsOverTable()
  for (const row of world.table.values()) row.owner = 'dead'
  world.processes.set('dead', '1')
  const all = [...world.table.keys()]
  signs.own.change('server/2', clock.monotonicMs())
  const common = { id: 'dead', name: 'server/1', endedForMs: 10_000 }
  world.signed = [{ ...common, shards: all.slice(0, 9), early: all.slice(9) }]
  await shards.renew()
  clock.advance(6.999)
  await shards.renew()
  assert.deepEqual(shards.held, [], 'it has not seen an end itself: nothing is early')
  clock.advance(0.001)
  await shards.renew()
  assert.equal(
    shards.held.length,
    32,
    'the other half is for the dead one, as long as it counts as alive',
  )
  signs.others.end(['server/1'], clock.monotonicMs())
  clock.advance(2)
  await shards.renew()
  assert.equal(shards.held.length, 64)
  assert.equal(shards.longestAftermathMs, 0)
})

test('after a fail-over what is known of sessions of the server before says nothing', async () => {
  const { shards, world, clock, signs } = await afterAnEnd()
  world.signed = world.signed.map((one) => ({ ...one, endedForMs: 16_000 }))
  world.server = 'standby'
  clock.advance(2)
  await shards.renew()
  assert.deepEqual(shards.held, [], 'our own session may last longer than the server')
  signs.own.change(null)
  await shards.renew()
  assert.deepEqual(shards.held, [])
  signs.own.change('standby/1', clock.monotonicMs())
  clock.advance(20)
  await shards.renew()
  assert.deepEqual(shards.held, [])
  clock.advance(3)
  await shards.renew()
  assert.equal(shards.held.length, 64, 'silent for a whole lease')
})

test('nothing is taken early where the sign has changed since the renewal: the end may be seen over a later one', async () => {
  const { shards, world, clock, signs } = await afterAnEnd()
  clock.advance(2)
  world.duringRenewal = async () => signs.own.change('server/4', clock.monotonicMs())
  await shards.renew()
  assert.deepEqual(shards.held, [])
  world.duringRenewal = async () => {}
  await shards.renew()
  assert.equal(shards.held.length, 64)
})

test('regression: a stop does not free what it asked for early, where the answer got lost', async () => {
  const { shards, world, clock, ours } = await afterAnEnd()
  clock.advance(2)
  world.loseTaking = true
  await assert.rejects(shards.renew())
  assert.equal(shards.held.length, 0)
  await shards.leave()
  assert.equal(ours().length, 64)
  clock.advance(15)
  await shards.leave()
  assert.equal(ours().length, 0)
})

test('under a sign an attempt begins within its proof, and again when it is renewed', async () => {
  const { shards, signs, clock } = shardsOverTable()
  signs.own.change('ours', clock.monotonicMs())
  await shards.renew()
  assert.ok(shards.maySend(3))
  assert.equal(shards.beginByMs(3), clock.monotonicMs() + 1_000)
  clock.advance(1)
  assert.ok(!shards.maySend(3))
  signs.own.prove(clock.monotonicMs())
  assert.ok(shards.maySend(3))
  signs.own.change(null)
  assert.ok(!shards.maySend(3), 'the leases stand under a sign that is gone')
  await shards.renew()
  assert.ok(shards.maySend(3))
  assert.equal(shards.beginByMs(3), clock.monotonicMs() + 9_000)
})
