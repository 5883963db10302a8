import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idOf, testEnvironment } from '../../test/support/engine-parts.ts'
import { NIL_UUID } from '../core/plain/uuid.ts'
import type { ExhaustedPage, ParkedPage } from '../store/owed/parked.ts'
import { Lane } from './lanes/lane.ts'
import { Maintenance, type MaintenanceParts } from './maintenance.ts'

/** The maintenance of two lanes that are down, over a store that answers for each as the test says. */
function maintaining(answer: (endpointId: string, page: ParkedPage) => ExhaustedPage) {
  const world = {
    asked: [] as [string, string][],
    disablings: 0,
    isDisablingRefused: false,
    aftermaths: [] as number[],
  }
  const environment = testEnvironment({
    async exhaustParked({ endpointId }, page) {
      world.asked.push([endpointId, page.afterId])
      return answer(endpointId, page)
    },
    async disableFailing() {
      world.disablings++
      if (world.isDisablingRefused) throw new Error('refused')
      return []
    },
  })
  const lanes = [1, 2].map(
    (number) => new Lane({ clientKey: 1, endpointId: idOf(number), shard: number }),
  )
  const parts = {
    lanes: { directory: { broken: lanes } },
    shards: {
      epochOf: () => 1,
      epochs: [],
      aftermathMs: (shard: number) => (world.aftermaths.includes(shard) ? 1 : 0),
    },
    onDisabled() {},
  } as unknown as MaintenanceParts
  return {
    world,
    environment,
    maintenance: new Maintenance(environment, parts, 1),
  }
}

test('regression: a lane whose maintenance fails keeps none of the others waiting', async () => {
  const { world, environment, maintenance } = maintaining((endpointId) => {
    if (endpointId === idOf(1)) throw new Error('canceling statement due to statement timeout')
    return { exhausted: 3, afterId: null }
  })
  world.isDisablingRefused = true
  await maintenance.run()
  assert.deepEqual(world.asked, [
    [idOf(1), NIL_UUID],
    [idOf(2), NIL_UUID],
  ])
  assert.equal(world.disablings, 1)
  assert.deepEqual(environment.warnings, [
    'lane.care-failed',
    'deliveries.exhausted',
    'engine.care-failed',
  ])
})

test('F11: nothing is given up or disabled while the clock has just jumped ahead', async () => {
  const { world, environment, maintenance } = maintaining(() => ({ exhausted: 1, afterId: null }))
  environment.clock.hasJumped = true
  await maintenance.run()
  assert.deepEqual([world.asked, world.disablings], [[], 0])
  environment.clock.hasJumped = false
  await maintenance.run()
  assert.deepEqual([world.asked.length, world.disablings], [2, 1])
})

test('regression: nothing is given up in a shard whose last owner may have it under way', async () => {
  const { world, maintenance } = maintaining(() => ({ exhausted: 1, afterId: null }))
  world.aftermaths = [1]
  await maintenance.run()
  assert.deepEqual(world.asked, [[idOf(2), NIL_UUID]])
})

test('a lane with very much parked is seen a part in each round, and from the start again after its end', async () => {
  let left = 50
  const { world, maintenance } = maintaining((endpointId) => {
    const hasMore = endpointId === idOf(1) && left-- > 0
    return { exhausted: 0, afterId: hasMore ? idOf(1_000 + left) : null }
  })
  const rounds: number[] = []
  for (let round = 0; round < 4; round++) {
    world.asked = []
    await maintenance.run()
    rounds.push(world.asked.filter(([endpointId]) => endpointId === idOf(1)).length)
    assert.equal(world.asked.at(-1)?.[0], idOf(2), 'the other one is seen in each')
  }
  assert.deepEqual(rounds, [20, 20, 11, 1])
  assert.equal(world.asked[0]?.[1], NIL_UUID)
})
