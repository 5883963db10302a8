import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idOf, testEnvironment } from '../../../test/support/engine-parts.ts'
import type { ChangedEndpoint } from '../../store/owed/sending-endpoints.ts'
import { CHANGE_WATCH_LIMITS, ChangeWatch, type ChangeWatchLimits } from './change-watch.ts'

const POLL_MS = 1_000
const START_MS = 1_000_000

/** A watch over changes; tests add to them, and see what was read and what was handed over. */
function watchOver(limits: Partial<ChangeWatchLimits> = {}) {
  const world = {
    changes: [] as ChangedEndpoint[],
    pages: [] as number[],
    handedOver: [] as string[],
    isAway: false,
  }
  const { store } = testEnvironment({
    async readChangedEndpoints(sinceMs, afterId, limit) {
      if (world.isAway) throw new Error('away')
      const page = world.changes
        .filter((change) => change.changedAtMs > sinceMs && change.endpointId > afterId)
        .toSorted((one, other) => (one.endpointId < other.endpointId ? -1 : 1))
        .slice(0, limit)
      world.pages.push(page.length)
      return page
    },
  })
  const watch = new ChangeWatch(store, POLL_MS, { ...CHANGE_WATCH_LIMITS, ...limits })
  watch.start(START_MS)
  let nowMs = START_MS
  const look = async () => {
    nowMs += POLL_MS
    world.pages = []
    world.handedOver = []
    await watch.look(nowMs, (page) => {
      for (const { endpointId } of page) world.handedOver.push(endpointId)
    })
    return world.handedOver
  }
  const change = (number: number, agoMs = 0) => {
    const endpointId = idOf(number)
    world.changes = world.changes.filter((known) => known.endpointId !== endpointId)
    const changedAtMs = nowMs - agoMs
    world.changes.push({ clientKey: 1, endpointId, shard: 1, retriedAtMs: 0, changedAtMs })
  }
  return { world, look, change }
}

test('a change is handed over once, and again when the endpoint changes again', async () => {
  const { look, change } = watchOver()
  change(1)
  assert.deepEqual(await look(), [idOf(1)])
  assert.deepEqual(await look(), [])
  change(1)
  assert.deepEqual(await look(), [idOf(1)])
})

test('a change that commits long after it began is handed over', async () => {
  const { look, change } = watchOver()
  await look()
  await look()
  change(1, 25_000)
  assert.deepEqual(await look(), [idOf(1)])
})

test('many changes are read page by page, and each is handed over', async () => {
  const { look, change, world } = watchOver({ pageMax: 10 })
  for (let number = 1; number <= 25; number++) change(number)
  assert.equal((await look()).length, 25)
  assert.deepEqual(world.pages, [10, 10, 5])
})

test('after very many changes the overlap is read now and then only, and still nothing is missed', async () => {
  const { look, change, world } = watchOver({ rereadMax: 20 })
  for (let number = 1; number <= 100; number++) change(number)
  await look()
  let read = 0
  for (let polls = 0; polls < 5; polls++) assert.deepEqual(await look(), [])
  change(200)
  assert.deepEqual(await look(), [idOf(200)], 'what is new is handed over at once')
  change(201, 20_000)
  const handedOver: string[] = []
  for (let polls = 0; polls < 20; polls++) {
    handedOver.push(...(await look()))
    read += world.pages.reduce((sum, rows) => sum + rows, 0)
  }
  assert.deepEqual(handedOver, [idOf(201)], 'and what committed late, a little later')
  assert.ok(read < 20 * 100 * 0.3, `${read} rows were read in 20 looks`)
})

test('what is remembered is bounded: the rest is handed over again', async () => {
  const { look, change } = watchOver({ noticedMax: 3 })
  for (let number = 1; number <= 5; number++) change(number)
  await look()
  assert.deepEqual(await look(), [idOf(4), idOf(5)])
})

test('a look that fails is made up for by the next', async () => {
  const { look, change, world } = watchOver()
  change(1, -500)
  world.isAway = true
  for (let polls = 0; polls < 60; polls++) await assert.rejects(look())
  world.isAway = false
  assert.deepEqual(await look(), [idOf(1)])
})
