import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idOf, nextTick, testEnvironment } from '../../../test/support/engine-parts.ts'
import { attemptRecord } from '../../../test/support/stored-deliveries.ts'
import type { ShardEpoch } from '../../core/delivery/lease.ts'
import type { AttemptRecord } from '../../store/owed/outcomes.ts'
import { Recorder } from './recorder.ts'

function record(number: number, shard = 1): AttemptRecord {
  const [endpointId, paymentId] = [idOf(100), idOf(200)]
  return attemptRecord({ clientKey: 1, id: idOf(number), shard, epoch: 1, endpointId, paymentId })
}

interface Write {
  ids: readonly string[]
  succeed(except?: string, refused?: readonly ShardEpoch[]): void
  fail(): void
}

/** A recorder over writes that end when the test says so. */
function recorderOverWrites() {
  const writes: Write[] = []
  const lost = new Set<number>()
  const noted: string[] = []
  const environment = testEnvironment({
    recordOutcomes: (records) =>
      new Promise((resolve, reject) => {
        const ids = records.map(({ id }) => id)
        writes.push({
          ids,
          succeed: (except, refused = []) =>
            resolve({ ids: new Set(ids.filter((id) => id !== except)), lost: refused }),
          fail: () => reject(new Error('away')),
        })
      }),
  })
  const recorder = new Recorder(
    environment,
    {
      isHeld: (shard) => !lost.has(shard),
      refused: ({ shard, epoch }) => noted.push(`shard ${shard} under ${epoch} is lost`),
    },
    3,
  )
  return { recorder, writes, lost, noted, environment }
}

/** What `recorder` says of it in the end. */
function recording(recorder: Recorder, record: AttemptRecord): Promise<boolean> {
  return new Promise((onRecorded) => recorder.record({ record, onRecorded }))
}

test('an outcome is written at once; those that come during the write travel together', async () => {
  const { recorder, writes } = recorderOverWrites()
  const first = recording(recorder, record(1))
  const others = [2, 3].map((n) => recording(recorder, record(n)))
  assert.equal(writes.length, 1)
  assert.deepEqual(writes[0]?.ids, [idOf(1)])
  writes[0]?.succeed()
  assert.equal(await first, true)
  await nextTick()
  assert.deepEqual(writes[1]?.ids, [idOf(2), idOf(3)])
  writes[1]?.succeed()
  assert.deepEqual(await Promise.all(others), [true, true])
})

test('a second write goes beside the first only when a whole batch waits, and never a third', async () => {
  const { recorder, writes } = recorderOverWrites()
  for (let n = 1; n <= 10; n++) void recording(recorder, record(n))
  assert.deepEqual(
    writes.map(({ ids }) => ids),
    [[idOf(1)], [2, 3, 4].map(idOf)],
  )
  writes[1]?.succeed()
  await nextTick()
  assert.deepEqual(writes[2]?.ids, [5, 6, 7].map(idOf))
  assert.equal(writes.length, 3)
})

test('what the database did not change is distinguished from what it did', async () => {
  const { recorder, writes } = recorderOverWrites()
  void recording(recorder, record(1))
  const both = Promise.all([recording(recorder, record(2)), recording(recorder, record(3))])
  writes[0]?.succeed()
  await nextTick()
  writes[1]?.succeed(idOf(2))
  assert.deepEqual(await both, [false, true])
})

test('F4: a database that is away is asked again, less and less often, while the lease is held', async () => {
  const { recorder, writes, environment } = recorderOverWrites()
  const recorded = recording(recorder, record(1))
  const waitsMs: number[] = []
  for (let tries = 0; tries < 12; tries++) {
    writes.at(-1)?.fail()
    await nextTick()
    waitsMs.push(...environment.timers.waitingMs)
    environment.timers.ring()
    await nextTick()
  }
  assert.deepEqual(waitsMs.slice(0, 3), [200, 400, 600])
  assert.equal(Math.max(...waitsMs), 2_000)
  assert.equal(writes.length, 13)
  writes.at(-1)?.succeed()
  assert.equal(await recorded, true)
  assert.equal(environment.warnings.length, 12)
})

test('when the lease is lost before it is written, it gives up on that shard, and goes on with the others', async () => {
  const { recorder, writes, lost, environment } = recorderOverWrites()
  void recording(recorder, record(1))
  const ours = recording(recorder, record(2, 5))
  const theirs = recording(recorder, record(3, 9))
  writes[0]?.succeed()
  await nextTick()
  writes[1]?.fail()
  await nextTick()
  lost.add(9)
  environment.timers.ring()
  assert.equal(await theirs, false)
  assert.deepEqual(writes[2]?.ids, [idOf(2)])
  writes[2]?.succeed()
  assert.equal(await ours, true)
})

test('nothing is written for a shard that is no longer ours', async () => {
  const { recorder, writes, lost } = recorderOverWrites()
  lost.add(1)
  assert.equal(await recording(recorder, record(1)), false)
  assert.equal(writes.length, 0)
})

test('it has room until too much is unrecorded', async () => {
  const { recorder, writes } = recorderOverWrites()
  const first = recording(recorder, record(1, 4))
  for (let n = 2; n < 5_000; n++) void recording(recorder, record(n, 4))
  assert.ok(recorder.hasRoom)
  void recording(recorder, record(5_000, 4))
  assert.ok(!recorder.hasRoom)
  writes[0]?.succeed()
  await first
  assert.ok(recorder.hasRoom)
})

test('regression: a record that is refused for its epoch tells so before anything is settled', async () => {
  const { recorder, writes, noted } = recorderOverWrites()
  recorder.record({
    record: record(1, 9),
    onRecorded: (isRecorded) => noted.push(`recorded: ${isRecorded}`),
  })
  writes[0]?.succeed(idOf(1), [{ shard: 9, epoch: 1 }])
  await nextTick()
  assert.deepEqual(noted, ['shard 9 under 1 is lost', 'recorded: false'])
})
