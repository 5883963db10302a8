import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idOf, queued, testEnvironment } from '../../../test/support/engine-parts.ts'
import { NO_EVENTS } from '../../../test/support/test-lanes.ts'
import { circuitPolicy } from '../../core/delivery/circuit.ts'
import type { QueuedDelivery } from '../../core/delivery/queued-delivery.ts'
import { EndpointCache } from '../caches/endpoint-cache.ts'
import { Lanes } from '../lanes/lanes.ts'
import { CHANGE_WATCH_LIMITS } from './change-watch.ts'
import { ChangedEndpoints } from './changed-endpoints.ts'
import { DUE_READER_LIMITS, DueReader } from './due-reader.ts'

const RETRIED = { clientKey: 1, endpointId: idOf(71), shard: 1 }

/** Changes of endpoints over rows and a memory of so many deliveries; nothing is sent. */
function changesOver(rows: QueuedDelivery[], inMemoryMax: number) {
  const world = { rows, duringRead: () => {} }
  const environment = testEnvironment({
    async readDue(cursors, untilMs) {
      const shards = cursors.map(({ shard }) => shard)
      const due = world.rows.filter((row) => row.nextAttemptAtMs <= untilMs)
      world.duringRead()
      return due.filter(({ shard }) => shards.includes(shard))
    },
    async readStrands(keys) {
      const payments = keys.map(({ paymentId }) => paymentId)
      world.duringRead()
      return world.rows.filter(({ paymentId }) => payments.includes(paymentId))
    },
    readParked: async () => [],
  })
  const endpoints = new EndpointCache({ readEndpoints: async () => [] } as never)
  const lanes = new Lanes(
    {
      policy: { inFlightMax: 100, ratePerSecond: null },
      slots: 0,
      perLaneMax: 100,
      perBrokenLaneMax: 10,
      unprovenMax: 100,
      lanesMax: 100,
      keepMsMax: 30_000,
      endpoints,
      policies: { circuit: circuitPolicy(), patienceMs: 3_600_000 },
    },
    NO_EVENTS,
  )
  const limits = { ...DUE_READER_LIMITS, inMemoryMax }
  const reader = new DueReader(environment, lanes, endpoints, limits)
  const parts = {
    lanes,
    reader,
    endpoints,
    shards: { holds: () => true } as never,
    findParked() {},
    read: () => void reader.read(),
  }
  const changed = new ChangedEndpoints(environment, parts, 1_000, CHANGE_WATCH_LIMITS)
  const nowMs = environment.clock.nowMs()
  const inMemory = () => lanes.directory.find(RETRIED.endpointId)?.count
  return { changed, reader, world, nowMs, inMemory }
}

for (const [state, attempts] of [
  ['was tried', 1],
  ['was not', 0],
] as const) {
  test(`regression: a second retry costs an endpoint no place in a full memory, where its update ${state}`, async () => {
    const { changed, reader, world, nowMs, inMemory } = changesOver(
      [queued({ ...RETRIED, attempts })],
      2,
    )
    reader.gain([1, 2])
    await reader.read()
    assert.equal(inMemory(), 1)
    // Of another shard: they are due, and take what room there is.
    world.rows.push(...[1, 2, 3].map(() => queued({ shard: 2, endpointId: idOf(72) })))
    reader.gain([2])
    world.duringRead = () => {
      world.duringRead = () => {}
      changed.take([{ ...RETRIED, retriedAtMs: nowMs }])
    }
    changed.take([{ ...RETRIED, retriedAtMs: nowMs }])
    await reader.read()
    assert.equal(inMemory(), 1, 'it would have been tried, had it not been asked for')
  })
}

test('what an endpoint had in memory is not read first where it was changed, and not retried', async () => {
  const { changed, reader, world, inMemory } = changesOver([queued({ ...RETRIED, attempts: 1 })], 2)
  reader.gain([1])
  await reader.read()
  assert.equal(inMemory(), 1)
  // It is paused: its rows are no longer due.
  world.rows = world.rows.map((row) => ({ ...row, nextAttemptAtMs: Number.POSITIVE_INFINITY }))
  changed.take([RETRIED])
  await reader.read()
  assert.equal(inMemory(), 0)
})
