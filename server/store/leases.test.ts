import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { beforeEach, test } from 'node:test'
import { cloneDatabase } from '../../test/support/database.ts'
import {
  freeAllLeases,
  leaveProcesses,
  type ProcessIdentity,
  releaseLeases,
  renewLeases,
  takeLeases,
} from './leases.ts'

const { pool } = await cloneDatabase()
const SPANS = { leaseMs: 25_000, processGoneAfterMs: 10_000 }

beforeEach(async () => {
  await pool.query(
    `update leases set owner = null, epoch = 0, expires_at = '-infinity'; delete from processes`,
  )
})

function newProcess(): ProcessIdentity {
  return { id: randomUUID(), host: 'test', version: '1' }
}

/** As if so many seconds had gone by since everything that was written. */
async function pass(seconds: number): Promise<void> {
  await pool.query(
    `update leases set expires_at = expires_at - $1 * interval '1 second' where owner is not null`,
    [seconds],
  )
  await pool.query(`update processes set seen_at = seen_at - $1 * interval '1 second'`, [seconds])
}

test('it takes as many as it wants, with a new epoch, and only those that have run out', async () => {
  const [a, b] = [newProcess(), newProcess()]
  const first = await takeLeases(pool, a.id, 40, SPANS.leaseMs)
  assert.equal(first.length, 40)
  assert.ok(first.every(({ epoch }) => epoch === 1))
  assert.equal((await takeLeases(pool, b.id, 64, SPANS.leaseMs)).length, 24)
  assert.deepEqual(await takeLeases(pool, b.id, 64, SPANS.leaseMs), [])
  await pass(24)
  assert.deepEqual(await takeLeases(pool, b.id, 64, SPANS.leaseMs), [])
  await pass(2)
  const over = await takeLeases(pool, b.id, 64, SPANS.leaseMs)
  assert.equal(over.length, 64)
  assert.ok(over.every(({ epoch }) => epoch === 2))
})

test('F16: five that take at the same moment never share a shard, and leave none over', async () => {
  for (let round = 1; round <= 5; round++) {
    const processes = Array.from({ length: 5 }, newProcess)
    const taken = await Promise.all(processes.map(({ id }) => takeLeases(pool, id, 13, 25_000)))
    const shards = taken.flat().map(({ shard }) => shard)
    assert.equal(new Set(shards).size, shards.length)
    assert.ok(taken.every((leases) => leases.length <= 13))
    // Whoever met locked rows took fewer: the next renewal takes the rest.
    for (const { id } of processes)
      shards.push(...(await takeLeases(pool, id, 64, 25_000)).map((l) => l.shard))
    assert.equal(shards.length, 64)
    await pass(26)
  }
})

test('renewing lengthens what has not run out, and says what is held, and who is alive', async () => {
  const [a, b] = [newProcess(), newProcess()]
  assert.deepEqual((await renewLeases(pool, a, SPANS)).held, [])
  const taken = await takeLeases(pool, a.id, 2, SPANS.leaseMs)
  await renewLeases(pool, b, SPANS)
  await pass(20)
  const renewal = await renewLeases(pool, a, SPANS)
  assert.deepEqual(
    renewal.held.toSorted((one, other) => one.shard - other.shard),
    taken.toSorted((one, other) => one.shard - other.shard),
  )
  assert.equal(renewal.processes, 1, 'the other was not seen for 20 s')
  assert.equal((await renewLeases(pool, b, SPANS)).processes, 2)
  await pass(20)
  assert.equal((await renewLeases(pool, a, SPANS)).held.length, 2, 'counted from the last renewal')
})

test('a lease that has run out is not renewed, even when nobody has taken it', async () => {
  const a = newProcess()
  await takeLeases(pool, a.id, 64, SPANS.leaseMs)
  await pass(26)
  assert.deepEqual((await renewLeases(pool, a, SPANS)).held, [])
  const again = await takeLeases(pool, a.id, 64, SPANS.leaseMs)
  assert.ok(again.every(({ epoch }) => epoch === 2))
})

test("the time it tells is the database's own", async () => {
  const { nowMs } = await renewLeases(pool, newProcess(), SPANS)
  const { rows } = await pool.query<{ now: Date }>('select clock_timestamp() as now')
  const aheadMs = (rows[0]?.now.getTime() ?? 0) - nowMs
  assert.ok(aheadMs >= -1 && aheadMs < 10_000)
})

test("releasing frees one's own at once, and nobody else's", async () => {
  const [a, b] = [newProcess(), newProcess()]
  const [lease] = await takeLeases(pool, a.id, 1, SPANS.leaseMs)
  const shard = lease?.shard ?? assert.fail()
  await releaseLeases(pool, b.id, [shard])
  assert.equal((await takeLeases(pool, b.id, 64, SPANS.leaseMs)).length, 63)
  await releaseLeases(pool, a.id, [shard])
  assert.deepEqual(await takeLeases(pool, b.id, 64, SPANS.leaseMs), [{ shard, epoch: 2 }])
})

test('a process that has left is not counted', async () => {
  const [a, b] = [newProcess(), newProcess()]
  await renewLeases(pool, b, SPANS)
  assert.equal((await renewLeases(pool, a, SPANS)).processes, 2)
  await leaveProcesses(pool, b.id)
  assert.equal((await renewLeases(pool, a, SPANS)).processes, 1)
})

test('freeing all leaves epochs as they are: an old owner still records nothing', async () => {
  const a = newProcess()
  await renewLeases(pool, a, SPANS)
  await takeLeases(pool, a.id, 64, SPANS.leaseMs)
  await freeAllLeases(pool)
  const taken = await takeLeases(pool, newProcess().id, 64, SPANS.leaseMs)
  assert.equal(taken.length, 64)
  assert.ok(taken.every(({ epoch }) => epoch === 2))
})
