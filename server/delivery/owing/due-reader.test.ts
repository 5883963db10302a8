import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idOf, nextTick, queued, testEnvironment } from '../../../test/support/engine-parts.ts'
import { at, NO_EVENTS } from '../../../test/support/test-lanes.ts'
import { circuitPolicy } from '../../core/delivery/circuit.ts'
import type { QueuedDelivery } from '../../core/delivery/queued-delivery.ts'
import type { DueCursor, StrandKey } from '../../store/owed/deliveries.ts'
import { EndpointCache } from '../caches/endpoint-cache.ts'
import type { Lane } from '../lanes/lane.ts'
import { Lanes } from '../lanes/lanes.ts'
import { DUE_READER_LIMITS, DueReader, type DueReaderLimits } from './due-reader.ts'

const EVERY = new EndpointCache({
  readEndpoints: async () => [],
} as never)
const PARKED = Number.POSITIVE_INFINITY

/** A reader over rows; tests change the rows, and what happens while they are being read. */
function readerOver(rows: QueuedDelivery[], limits: Partial<DueReaderLimits> = {}) {
  const world = {
    rows,
    reads: [] as { cursors: readonly DueCursor[]; limit: number }[],
    strandReads: [] as (readonly StrandKey[])[],
    laneReads: [] as (readonly number[])[],
    refills: 0,
    duringRead: async () => {},
    parked: [] as string[],
    awaitingRefill: [] as Lane[],
  }
  const environment = testEnvironment({
    async readDue(cursors, untilMs, limit) {
      world.reads.push({ cursors, limit })
      const found = cursors.flatMap((cursor) => dueAfter(world.rows, cursor, untilMs, limit))
      await world.duringRead()
      return found
    },
    async readStrands(keys, limitEach) {
      world.strandReads.push(keys)
      const found = keys.flatMap((key) => strandOf(world.rows, key).slice(0, limitEach))
      await world.duringRead()
      return found
    },
    async readParked(_lane, afterId, limit) {
      world.refills++
      const rest = world.rows.filter((row) => row.nextAttemptAtMs === PARKED && row.id > afterId)
      await world.duringRead()
      return rest.slice(0, limit)
    },
    async readParkedLanes(shards) {
      world.laneReads.push(shards)
      await world.duringRead()
      return [1, 2].filter((shard) => shards.includes(shard)).map((shard) => laneOf(shard))
    },
  })
  const nowMs = environment.clock.nowMs()
  const lanes: Lanes = new Lanes(
    {
      policy: {
        inFlightMax: 100,
        ratePerSecond: null,
      },
      slots: 1_000,
      perLaneMax: 1_000,
      perBrokenLaneMax: 10,
      unprovenMax: 100_000,
      lanesMax: 100,
      keepMsMax: 30_000,
      endpoints: { deliverOf: () => 'every' },
      policies: { circuit: circuitPolicy(), patienceMs: 3_600_000 },
    },
    {
      ...NO_EVENTS,
      onParked: (deliveries) => void world.parked.push(...deliveries.map(({ id }) => id)),
      onRefillNeeded: (lane) => void world.awaitingRefill.push(lane),
    },
  )
  const reader = new DueReader(environment, lanes, EVERY, { ...DUE_READER_LIMITS, ...limits })
  return { reader, lanes, world, environment, nowMs }
}

function laneOf(shard: number) {
  return { clientKey: 1, endpointId: idOf(70 + shard), shard }
}

function dueAfter(
  rows: readonly QueuedDelivery[],
  { shard, afterMs, afterId }: DueCursor,
  untilMs: number,
  limit: number,
): QueuedDelivery[] {
  return rows
    .filter((row) => row.shard === shard && row.nextAttemptAtMs <= untilMs)
    .filter(
      ({ nextAttemptAtMs, id }) =>
        nextAttemptAtMs > afterMs || (nextAttemptAtMs === afterMs && id > afterId),
    )
    .toSorted(
      (a, b) => a.nextAttemptAtMs - b.nextAttemptAtMs || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0),
    )
    .slice(0, limit)
}

function strandOf(rows: readonly QueuedDelivery[], key: StrandKey): QueuedDelivery[] {
  return rows
    .filter((row) => row.endpointId === key.endpointId && row.paymentId === key.paymentId)
    .toSorted((a, b) => a.sequence - b.sequence)
}

const BASE_MS = Date.parse('2026-03-02T09:30:00.000Z')

/** Rows of one shard, one millisecond after another. */
function dueRows(count: number, shard = 1): QueuedDelivery[] {
  return Array.from({ length: count }, (_, n) =>
    queued({ shard, nextAttemptAtMs: BASE_MS - 1_000 + n }),
  )
}

test('it reads forward page by page until nothing is due, and then only what is new', async () => {
  const { reader, lanes, world } = readerOver(dueRows(25), { pageMax: 10 })
  reader.gain([1])
  await reader.read()
  assert.equal(lanes.size, 25)
  assert.equal(world.reads.length, 3)
  await reader.read()
  assert.equal(world.reads.length, 4)
  assert.ok((world.reads[3]?.cursors[0]?.afterMs ?? 0) > BASE_MS, 'not from the left edge')
})

test('rows of one instant are ordered by their ids: no page repeats or skips one', async () => {
  const rows = dueRows(35).map((row) => ({ ...row, nextAttemptAtMs: BASE_MS }))
  const { reader, lanes, world } = readerOver(rows, { pageMax: 10 })
  reader.gain([1])
  await reader.read()
  assert.equal(lanes.size, 35)
  assert.equal(world.reads.length, 4)
})

test('shards share a page, and only those with more to come are asked again', async () => {
  const rows = [...dueRows(30, 1), ...dueRows(3, 2)]
  const { reader, lanes, world } = readerOver(rows, { pageMax: 20 })
  reader.gain([1, 2])
  await reader.read()
  assert.equal(lanes.size, 33)
  assert.deepEqual(
    world.reads.map(({ cursors, limit }) => [cursors.length, limit]),
    [
      [2, 10],
      [1, 20],
      [1, 20],
    ],
  )
})

test('what is due soon is read ahead, what is due later is not', async () => {
  const { reader, lanes, nowMs, world } = readerOver([])
  world.rows.push(
    queued({ nextAttemptAtMs: nowMs + 1_000 }),
    queued({ nextAttemptAtMs: nowMs + 2_000 }),
  )
  reader.gain([1])
  await reader.read()
  assert.equal(lanes.size, 1)
})

test('a row that became visible behind the cursor is found by the look back', async () => {
  const { reader, lanes, world, environment, nowMs } = readerOver([])
  reader.gain([1])
  await reader.read()
  world.rows.push(queued({ nextAttemptAtMs: nowMs - 1_000 }))
  environment.clock.advance(9)
  await reader.read()
  assert.equal(lanes.size, 0)
  environment.clock.advance(1)
  await reader.read()
  assert.equal(lanes.size, 1)
})

test('F22: a row that is older than every look back is found by the sweep', async () => {
  const { reader, lanes, world, environment, nowMs } = readerOver([])
  reader.gain([1])
  await reader.read()
  world.rows.push(queued({ nextAttemptAtMs: nowMs - 3_600_000 }))
  environment.clock.advance(59)
  await reader.read()
  assert.equal(lanes.size, 0)
  environment.clock.advance(1)
  await reader.read()
  assert.equal(lanes.size, 1)
})

test('rows of a shard that is lost while it is being read are not taken', async () => {
  const { reader, lanes, world } = readerOver([...dueRows(3, 1), ...dueRows(4, 2)])
  reader.gain([1, 2])
  world.duringRead = async () => reader.lose([1])
  await reader.read()
  assert.equal(lanes.size, 4)
  world.duringRead = async () => {}
  await reader.read()
  assert.deepEqual(
    world.reads.at(-1)?.cursors.map(({ shard }) => shard),
    [2],
  )
})

test('a cursor that is moved back while it is being read stays back', async () => {
  const { reader, lanes, world, nowMs } = readerOver([])
  reader.gain([1])
  await reader.read()
  world.duringRead = async () => {
    world.duringRead = async () => {}
    world.rows.push(queued({ nextAttemptAtMs: nowMs - 50 }))
    reader.rewindTo(1, nowMs - 50)
  }
  await reader.read()
  await reader.read()
  assert.equal(lanes.size, 1)
})

test('regression: a row that is committed during a read from before it is not passed by', async () => {
  const { reader, lanes, world, nowMs } = readerOver([])
  reader.gain([1])
  // The read begins at the very start, and its rows are chosen by now.
  world.duringRead = async () => {
    world.duringRead = async () => {}
    world.rows.push(queued({ nextAttemptAtMs: nowMs }))
    reader.rewindTo(1, nowMs)
  }
  await reader.read()
  assert.equal(lanes.size, 1)
})

test('a shard that is announced during every read keeps no other waiting', async () => {
  const { reader, lanes, world, nowMs } = readerOver([])
  reader.gain([1, 2])
  await reader.read()
  world.rows.push(queued({ shard: 2, nextAttemptAtMs: nowMs }))
  let reads = 0
  world.duringRead = async () => {
    if (++reads === 1) reader.rewindTo(2, nowMs)
    if (reads < 50) reader.rewindTo(1, nowMs + reads)
    if (reads === 3) assert.equal(lanes.size, 1)
  }
  reader.rewindTo(1, nowMs)
  await reader.read()
  assert.ok(reads >= 3)
})

test('moving back to a time that is still ahead changes nothing, nor does a shard of others', async () => {
  const { reader, world, nowMs } = readerOver([])
  reader.gain([1])
  await reader.read()
  reader.rewindTo(1, nowMs + 60_000)
  reader.rewindTo(9, 0)
  await reader.read()
  assert.ok((world.reads.at(-1)?.cursors[0]?.afterMs ?? 0) > nowMs)
  assert.equal(world.reads.at(-1)?.cursors.length, 1)
})

test('a later update is read with its elders, in one read for all strands of a page', async () => {
  const owed = [1, 2, 3].map((n) => queued({ paymentId: idOf(8), sequence: n }))
  const rows = owed.map((row, n) => ({ ...row, nextAttemptAtMs: n === 0 ? PARKED : BASE_MS + n }))
  const { reader, lanes, world, nowMs } = readerOver(rows)
  reader.gain([1])
  await reader.read()
  assert.equal(lanes.size, 3)
  assert.equal(world.strandReads.length, 1)
  const flight = lanes.next(at(nowMs), () => true)
  assert.equal(flight?.update.sequence, 1, 'the parked elder goes first')
})

test('a first update that was tried before is read with its juniors: one may have gone ahead', async () => {
  const rows = [1, 2].map((sequence) =>
    queued({ paymentId: idOf(8), sequence, attempts: 1, nextAttemptAtMs: BASE_MS }),
  )
  const { reader, lanes, world } = readerOver(rows)
  world.rows = [{ ...(rows[0] as QueuedDelivery) }, { ...(rows[1] as QueuedDelivery), shard: 9 }]
  reader.gain([1])
  await reader.read()
  assert.equal(world.strandReads.length, 1)
  assert.equal(lanes.size, 2)
})

test('a strand that is longer than the limit counts as read in part', async () => {
  const rows = [1, 2, 3].map((n) =>
    queued({ paymentId: idOf(8), sequence: n, nextAttemptAtMs: BASE_MS }),
  )
  const { reader, lanes } = readerOver(rows.slice(1), { strandMax: 2 })
  reader.gain([1])
  await reader.read()
  const flight = lanes.next(at(BASE_MS + 1_000), () => true)
  assert.equal(flight?.strand.isComplete, false)
})

test('F4: a read that fails loses no strand that was wanted', async () => {
  const rows = dueRows(3)
  const { reader, lanes, world } = readerOver(rows)
  reader.gain([1])
  for (const row of rows) reader.reloadStrand(row)
  world.duringRead = () => Promise.reject(new Error('away'))
  await assert.rejects(reader.read(), /away/)
  await assert.rejects(reader.read(), /away/)
  world.duringRead = async () => {}
  await reader.read()
  assert.equal(lanes.size, 3)
  assert.equal(world.strandReads.at(-1)?.length, 3)
})

test('a page whose strands could not be read is not lost behind the cursor', async () => {
  const rows = [1, 2].map((n) =>
    queued({ paymentId: idOf(9), sequence: n, nextAttemptAtMs: BASE_MS }),
  )
  const { reader, lanes, world } = readerOver(rows.slice(1))
  reader.gain([1])
  world.duringRead = async () => {
    if (world.strandReads.length === 1) throw new Error('away')
  }
  await assert.rejects(reader.read(), /away/)
  assert.equal(lanes.size, 0)
  world.duringRead = async () => {}
  await reader.read()
  assert.equal(lanes.size, 1)
})

test('wanted strands of a shard that is not ours are passed over', async () => {
  const rows = dueRows(2)
  const { reader, lanes } = readerOver(rows)
  for (const row of rows) reader.reloadStrand(row)
  await reader.read()
  assert.equal(lanes.size, 0)
})

test('I5: a strand that moved on while it was being read is read again', async () => {
  const rows = dueRows(1)
  const { reader, lanes, world, nowMs } = readerOver(rows)
  const [row] = rows as [QueuedDelivery]
  reader.gain([1])
  lanes.add(row, false, nowMs)
  const flight = lanes.next(at(nowMs), () => true) ?? assert.fail()
  reader.reloadStrand(row)
  world.duringRead = async () => {
    world.duringRead = async () => {}
    world.rows.length = 0
    lanes.answered(flight, { isSuccess: true, durationMs: 1, bodyBytes: 1 }, at(nowMs))
    lanes.settle(flight, null, nowMs)
  }
  await reader.read()
  assert.equal(world.strandReads.length, 2)
  assert.equal(lanes.size, 0, 'it is not sent again after its 200')
})

test('a full memory stops the reading, and it goes on from there when there is room', async () => {
  const { reader, lanes, world } = readerOver(dueRows(60), { pageMax: 10, inMemoryMax: 20 })
  reader.gain([1])
  await reader.read()
  assert.ok(reader.isFull)
  assert.equal(lanes.size, 20)
  const readsBefore = world.reads.length
  await reader.read()
  assert.equal(world.reads.length, readsBefore)
  lanes.removeEndpoint(idOf(2_000_000))
  await reader.read()
  assert.equal(lanes.size, 20)
  lanes.removeEndpoint(idOf(2_000_000))
  await reader.read()
  assert.equal(lanes.size, 20)
})

/** A payment's updates at an endpoint, all of them owed, in sequence. */
function longStrand(number: number, length: number): QueuedDelivery[] {
  const [endpointId, paymentId] = [idOf(3_000 + number), idOf(4_000 + number)]
  return Array.from({ length }, (_, n) =>
    queued({ endpointId, paymentId, sequence: n + 1, nextAttemptAtMs: BASE_MS }),
  )
}

test('regression: strands that are read while memory is full bring what each needs next, and no more', async () => {
  const strands = Array.from({ length: 50 }, (_, n) => longStrand(n, 100))
  const filling = dueRows(20)
  const { reader, lanes, world, nowMs } = readerOver(filling, { inMemoryMax: 20 })
  reader.gain([1])
  await reader.read()
  assert.ok(reader.isFull)
  world.rows = strands.flat()
  for (const [first] of strands) reader.reloadStrand(first as QueuedDelivery)
  await reader.read()
  assert.equal(lanes.size, 20 + 50 * 2)
  // None starves, although not one of those that fill the memory has moved.
  const sent = new Map<string, boolean>()
  for (let next = lanes.next(at(nowMs), () => true); next; next = lanes.next(at(nowMs), () => true))
    if (next.update.sequence === 1) sent.set(next.update.paymentId, next.strand.isComplete)
  for (const [first] of strands) {
    const isComplete = sent.get((first as QueuedDelivery).paymentId)
    assert.equal(isComplete, false, 'the rest is read when these are done')
  }
})

test('regression: strands that are read together share what room there is', async () => {
  const strands = Array.from({ length: 5 }, (_, n) => longStrand(n, 100))
  const { reader, lanes } = readerOver(strands.flat(), { inMemoryMax: 200 })
  reader.gain([1])
  for (const [first] of strands) reader.reloadStrand(first as QueuedDelivery)
  await reader.read()
  assert.ok(lanes.size <= 200, `${lanes.size} in memory`)
  // Of each as many as would fit if a later update of every one had gone ahead, which are as many again.
  assert.equal(lanes.size, 5 * 20)
})

test('regression: a look that is asked for at whatever moment is taken', async () => {
  for (let moment = 0; moment < 40; moment++) {
    const { reader, lanes, world } = readerOver([])
    reader.gain([1])
    const reading = reader.read()
    for (let n = 0; n < moment; n++) await null
    const [row] = dueRows(1) as [QueuedDelivery]
    world.rows.push(row)
    reader.reloadStrand(row)
    await Promise.all([reading, reader.read()])
    await nextTick()
    assert.equal(lanes.size, 1, `asked for after ${moment} microtasks`)
  }
})

test('a refill takes parked deliveries as due, page by page, and ends when there are no more', async () => {
  const rows = Array.from({ length: 7 }, () => queued({ nextAttemptAtMs: PARKED }))
  const { reader, lanes, world, nowMs } = readerOver(rows, { pageMax: 5 })
  reader.gain([1])
  lanes.feeder.noteParked(rows[0] as QueuedDelivery)
  const lane = world.awaitingRefill[0] ?? assert.fail()
  await reader.refill(lane, 100)
  assert.equal(lanes.size, 5)
  assert.equal(lane.parked.after, rows[4]?.id)
  assert.equal(world.awaitingRefill.length, 2, 'it asks for the rest')
  await reader.refill(lane, 100)
  assert.equal(lanes.size, 7)
  assert.equal(lane.parked.state.is, 'none')
  assert.ok(lanes.next(at(nowMs), () => true))
})

test('a refill for a shard that was lost during the read brings nothing', async () => {
  const rows = [queued({ nextAttemptAtMs: PARKED })]
  const { reader, lanes, world } = readerOver(rows)
  reader.gain([1])
  lanes.feeder.noteParked(rows[0] as QueuedDelivery)
  world.duringRead = async () => reader.lose([1])
  await reader.refill(world.awaitingRefill[0] ?? assert.fail(), 100)
  assert.equal(lanes.size, 0)
})

test('regression: nothing is read for a lane whose shard was lost before it asked, or while it waited', async () => {
  const rows = [queued({ nextAttemptAtMs: PARKED })]
  for (const lose of ['before', 'after'] as const) {
    const { reader, lanes, world } = readerOver(rows)
    reader.gain([1])
    if (lose === 'before') reader.lose([1])
    lanes.feeder.noteParked(rows[0] as QueuedDelivery)
    if (lose === 'after') reader.lose([1])
    const lane = world.awaitingRefill[0] ?? assert.fail()
    await reader.refill(lane, 100)
    assert.deepEqual(
      [world.refills, lane.parked.state.is, world.awaitingRefill.length],
      [0, 'none', 1],
    )
  }
})

test('parked work of our shards is found after a take-over, that of others is left alone', async () => {
  const { reader, world } = readerOver([])
  reader.gain([1])
  await reader.findParked([1, 2])
  assert.deepEqual(
    world.awaitingRefill.map(({ shard }) => shard),
    [1],
  )
  await reader.findParked([])
})

test('regression: shards that could not be asked about are asked about with the next search, unless they are lost', async () => {
  const { reader, world } = readerOver([])
  reader.gain([1, 2])
  world.duringRead = () => Promise.reject(new Error('the database is away'))
  await assert.rejects(reader.findParked([1, 2]), /away/)
  assert.equal(world.awaitingRefill.length, 0)
  world.duringRead = async () => {}
  reader.lose([2])
  await reader.findParked([])
  assert.deepEqual(world.laneReads, [[1, 2], [1]])
  assert.deepEqual(
    world.awaitingRefill.map(({ shard }) => shard),
    [1],
  )
  await reader.findParked([])
  assert.equal(world.laneReads.length, 2)
})

test('regression: a change of an endpoint has its own rows read again, and not all that is due in its shard', async () => {
  const { reader, lanes, world, nowMs } = readerOver(dueRows(25), { overlapMs: 30_000 })
  reader.gain([1])
  await reader.read()
  reader.rewindForChange(1)
  await reader.read()
  assert.equal(world.reads.at(-1)?.cursors[0]?.afterMs, nowMs - 30_000 - 1)
  // Of rows that are due for longer, those of the endpoint that changes while they are read are not passed.
  const old = queued({ shard: 1, nextAttemptAtMs: nowMs - 3_600_000 })
  world.rows.push(old)
  reader.gain([1])
  world.duringRead = async () => {
    world.duringRead = async () => {}
    lanes.watches.note(old.endpointId)
    reader.rewindForChange(1)
    void reader.read()
  }
  const before = lanes.size
  await reader.read()
  assert.equal(lanes.size, before + 1)
})
