import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { beforeEach, test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import type { RenewedLease } from '../../core/delivery/lease.ts'
import { UNSIGNED } from '../../core/delivery/session-signs.ts'
import { openSignSession } from '../connection/sign-session.ts'
import {
  freeAllLeases,
  leaveProcesses,
  type ProcessIdentity,
  type Renewal,
  releaseLeases,
  renewLeases,
  takeLeases,
} from './leases.ts'

const { pool, url } = await cloneDatabase()
const LEASE_MS = 25_000

beforeEach(async () => {
  await pool.query(
    `update leases set owner = null, epoch = 0, beat = 0, expires_at = '-infinity', is_early = false;
     delete from processes`,
  )
})

function newProcess(): ProcessIdentity {
  return { id: randomUUID(), host: 'test', version: '1' }
}

const renew = (process: ProcessIdentity, gone: ReadonlyMap<string, string> = new Map()) =>
  renewLeases(pool, process, LEASE_MS, gone)

const take = (
  { id }: ProcessIdentity,
  wanted: number,
  silent: ReadonlyMap<number, string> = new Map(),
) => takeLeases(pool, id, wanted, LEASE_MS, silent)

/** As if the database's clock had jumped ahead by so much since everything that was written. */
async function jump(seconds: number): Promise<void> {
  const by = `$1 * interval '1 second'`
  await pool.query(`update leases set expires_at = expires_at - ${by} where owner is not null`, [
    seconds,
  ])
  await pool.query(`update processes set seen_at = seen_at - ${by}`, [seconds])
}

function shardsOf(leases: readonly { shard: number }[]): number[] {
  return leases.map(({ shard }) => shard).toSorted((one, other) => one - other)
}

test('it takes as many as it wants of those that nobody owns, with a new epoch', async () => {
  const [a, b] = [newProcess(), newProcess()]
  const first = await take(a, 40)
  assert.equal(first.length, 40)
  assert.ok(first.every(({ epoch }) => epoch === 1))
  assert.equal((await take(b, 64)).length, 24)
  assert.deepEqual(await take(b, 64), [])
})

test('regression: a jump of the database’s clock makes no lease free, and ends none', async () => {
  const [a, b] = [newProcess(), newProcess()]
  await take(a, 64)
  for (const seconds of [3_600, -7_200]) {
    await jump(seconds)
    assert.deepEqual(await take(b, 64), [], 'not the taker’s to decide by that clock')
    assert.equal((await renew(b)).free, 0)
    const { held } = await renew(a)
    assert.equal(held.length, 64, 'nor the owner’s')
    assert.ok(held.every(({ epoch }) => epoch === 1))
  }
})

test('a lease that shows the same mark as before is taken, and one that was renewed is not', async () => {
  const [a, b] = [newProcess(), newProcess()]
  await take(a, 3)
  const { others } = await renew(b)
  assert.deepEqual([...others.keys()].toSorted(), [0, 1, 2])
  const again = (await renew(b)).others
  assert.deepEqual(again, others, 'reading changes no mark')
  await renew(a)
  assert.deepEqual(shardsOf(await take(b, 64, others)), shardsOf([...freeAfter(3)]))
  const silent = (await renew(b)).others
  const over = await take(b, 64, silent)
  assert.deepEqual(shardsOf(over), [0, 1, 2])
  assert.ok(over.every(({ epoch }) => epoch === 2))
  assert.deepEqual((await renew(a)).held, [], 'its owner learns of it')
})

function* freeAfter(owned: number): Generator<{ shard: number }> {
  for (let shard = owned; shard < 64; shard++) yield { shard }
}

test('a renewal by the version before, which raises no beat, is a sign of life too', async () => {
  const [a, b] = [newProcess(), newProcess()]
  await take(a, 64)
  await renew(a)
  const before = await renew(b)
  await pool.query(
    `update leases set expires_at = clock_timestamp() + interval '25 seconds'
     where owner = $1 and expires_at > clock_timestamp()`,
    [a.id],
  )
  await pool.query('update processes set seen_at = clock_timestamp() where id = $1', [a.id])
  const after = await renew(b)
  for (const [shard, mark] of before.others) assert.notEqual(after.others.get(shard), mark)
  assert.notEqual(after.processes.get(a.id), before.processes.get(a.id))
  assert.deepEqual(await take(b, 64, before.others), [])
})

test('what is renewed and taken is still written as a time, for people and for the version before', async () => {
  const a = newProcess()
  const left = async () =>
    (
      await pool.query<{ shard: number; left: number }>(
        `select shard, extract(epoch from expires_at - clock_timestamp())::float8 as left
         from leases where owner is not null`,
      )
    ).rows
  await take(a, 2)
  for (const row of await left()) assert.ok(row.left > 0 && row.left <= 25)
  await jump(20)
  await renew(a)
  for (const row of await left()) assert.ok(row.left > 6 && row.left <= 25)
})

test('F16: five that take at the same moment never share a shard, and leave none over', async () => {
  for (let round = 1; round <= 5; round++) {
    const processes = Array.from({ length: 5 }, newProcess)
    const taken = await Promise.all(processes.map((process) => take(process, 13)))
    const shards = taken.flat().map(({ shard }) => shard)
    assert.equal(new Set(shards).size, shards.length)
    assert.ok(taken.every((leases) => leases.length <= 13))
    // Whoever met locked rows took fewer: the next renewal takes the rest.
    for (const process of processes) shards.push(...shardsOf(await take(process, 64)))
    assert.equal(shards.length, 64)
    for (const { id } of processes) await leaveProcesses(pool, id, [])
  }
})

test('F16: of two that have watched the same silence, one takes the lease', async () => {
  const [a, b, c] = [newProcess(), newProcess(), newProcess()]
  await take(a, 64)
  const silent = (await renew(b)).others
  const [one, other] = await Promise.all([take(b, 64, silent), take(c, 64, silent)])
  const shards = shardsOf([...one, ...other])
  assert.equal(new Set(shards).size, shards.length)
  assert.ok([...one, ...other].every(({ epoch }) => epoch === 2))
})

test('a lease taken early goes by no sign, until its owner says that it is settled under its epoch', async () => {
  const [a, b] = [newProcess(), newProcess()]
  const sign = { turn: 1, name: 'x' }
  const signed = async () =>
    shardsOf((await renew(b)).signed.flatMap(({ shards }) => shards.map((shard) => ({ shard }))))
  const { others } = await renew(b)
  assert.equal(others.size, 0)
  const taken = await takeLeases(pool, a.id, 4, LEASE_MS, new Map(), [1, 2])
  const renewed = (settled: readonly RenewedLease[]) =>
    renewLeases(pool, a, LEASE_MS, new Map(), sign, settled)
  await renewed([])
  assert.deepEqual(await signed(), [0, 3])
  await renewed(taken.map((lease) => ({ ...lease, epoch: lease.epoch - lease.shard + 1 })))
  assert.deepEqual(await signed(), [0, 1, 3])
  await renewed(taken)
  assert.deepEqual(await signed(), [0, 1, 2, 3])
})

test('for how long a sign has ended is kept for whoever reads next, and for no other sign', async () => {
  const [a, b, c] = [newProcess(), newProcess(), newProcess()]
  const sayAlive = (name: string, turn: number) =>
    renewLeases(pool, a, LEASE_MS, new Map(), { turn, name })
  const note = (name: string, forMs: number) =>
    renewLeases(pool, b, LEASE_MS, new Map(), UNSIGNED, [], [{ id: a.id, name, forMs }])
  const known = async () => (await renew(c)).signed.map(({ endedForMs }) => endedForMs)
  await sayAlive('x', 1)
  assert.deepEqual(await known(), [null])
  await note('y', 9_000)
  assert.deepEqual(await known(), [null])
  assert.deepEqual(
    (await note('x', 300)).signed.map(({ endedForMs }) => endedForMs),
    [300],
  )
  await note('x', 3_300)
  await note('x', 1_200)
  assert.deepEqual(await known(), [3_300], 'who began later knows less')
  await sayAlive('z', 2)
  assert.deepEqual(await known(), [null])
  await note('z', 5)
  assert.deepEqual(await known(), [5])
})

test('a renewal says at which server it was: the one that signs of its sessions begin with', async (t) => {
  const sign = await openSignSession({ url, openMsMax: 30_000 }, () => {})
  t.after(() => sign.close())
  const { server } = await renew(newProcess())
  assert.match(server, /^\d+$/)
  assert.equal(sign.name.slice(0, server.length + 1), `${server}/`)
})

test('two that note the same ends do not wait for each other', async (t) => {
  const [a, b] = [newProcess(), newProcess()]
  const sign = { turn: 1, name: 'x' }
  const held = await pool.connect()
  t.after(() => held.release())
  await renewLeases(pool, a, LEASE_MS, new Map(), sign)
  await held.query('begin')
  await held.query('select from processes where id = $1 for update', [a.id])
  await renewLeases(pool, b, LEASE_MS, new Map(), sign, [], [{ id: a.id, name: 'x', forMs: 5 }])
  await held.query('commit')
  assert.deepEqual(
    (await renew(b)).signed.map(({ endedForMs }) => endedForMs),
    [null],
  )
})

test('renewing raises the beat, and tells what is held and how the others show themselves', async () => {
  const [a, b] = [newProcess(), newProcess()]
  const first = await renew(a)
  assert.deepEqual([first.held, first.free, first.processes.size], [[], 64, 0])
  const taken = await take(a, 2)
  await renew(b)
  const renewal: Renewal = await renew(a)
  assert.deepEqual(
    renewal.held.toSorted((one, other) => one.shard - other.shard),
    [0, 1].map((shard) => ({ shard, epoch: 1, beat: (taken[0]?.beat ?? 0) + 1 })),
  )
  assert.equal(renewal.free, 62)
  const mark = renewal.processes.get(b.id)
  assert.equal((await renew(a)).processes.get(b.id), mark, 'it has not moved')
  await renew(b)
  assert.notEqual((await renew(a)).processes.get(b.id), mark)
})

test('a process that has not moved is forgotten; one that has moved meanwhile is not', async () => {
  const [a, b, c] = [newProcess(), newProcess(), newProcess()]
  await renew(b)
  await renew(c)
  const { processes: gone } = await renew(a)
  await renew(c)
  await renew(a, gone)
  assert.deepEqual([...(await renew(a)).processes.keys()], [c.id])
})

test("the time it tells is the database's own", async () => {
  const { nowMs } = await renew(newProcess())
  const { rows } = await pool.query<{ now: Date }>('select clock_timestamp() as now')
  const aheadMs = (rows[0]?.now.getTime() ?? 0) - nowMs
  assert.ok(aheadMs >= -1 && aheadMs < 10_000)
})

test("releasing frees one's own at once, and nobody else's", async () => {
  const [a, b] = [newProcess(), newProcess()]
  const leases = await take(a, 1)
  await releaseLeases(pool, b.id, leases)
  assert.equal((await take(b, 64)).length, 63)
  await releaseLeases(pool, a.id, leases)
  assert.deepEqual(
    (await take(b, 64)).map(({ shard, epoch }) => [shard, epoch]),
    [[leases[0]?.shard, 2]],
  )
})

test('regression: a release that comes after a later renewal frees nothing', async () => {
  const a = newProcess()
  const [lease] = (await take(a, 1)) as [RenewedLease]
  const { held } = await renew(a)
  await releaseLeases(pool, a.id, [lease])
  assert.equal((await renew(a)).held.length, 1)
  await releaseLeases(pool, a.id, held)
  assert.equal((await renew(a)).held.length, 1, 'nor does the one before the last')
  await releaseLeases(pool, a.id, (await renew(a)).held)
  assert.equal((await renew(a)).held.length, 0)
})

test('regression: whoever leaves frees all that is its own and is no longer counted, at once', async () => {
  const [a, b] = [newProcess(), newProcess()]
  await renew(b)
  await take(b, 40)
  await take(a, 24)
  assert.equal((await renew(a)).processes.size, 1)
  await leaveProcesses(pool, b.id, [0, 7])
  const { processes, free, held, others } = await renew(a)
  assert.deepEqual([processes.size, free, held.length], [0, 38, 24])
  assert.deepEqual([...others.keys()].toSorted(), [0, 7], 'what is busy stays until it is settled')
  await leaveProcesses(pool, b.id, [])
  assert.equal((await renew(a)).free, 40)
})

test('freeing all leaves epochs as they are: an old owner still records nothing', async () => {
  const a = newProcess()
  await renew(a)
  await take(a, 64)
  await freeAllLeases(pool)
  const taken = await take(newProcess(), 64)
  assert.equal(taken.length, 64)
  assert.ok(taken.every(({ epoch }) => epoch === 2))
})
