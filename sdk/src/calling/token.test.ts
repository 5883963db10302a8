import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TokenKeeper } from './token.ts'

class World {
  nowMs = 0
  fetched = 0
  fails = false
  readonly keeper: TokenKeeper

  constructor(lifetimeSeconds: number) {
    this.keeper = new TokenKeeper(
      async () => {
        await new Promise((resolve) => setImmediate(resolve))
        if (this.fails) throw new Error('away')
        return { value: `token ${++this.fetched}`, lifetimeSeconds }
      },
      () => this.nowMs,
    )
  }
}

test('a hundred callers at once cause one fetch', async () => {
  const { keeper } = new World(100)
  const values = await Promise.all(Array.from({ length: 100 }, () => keeper.get()))
  assert.deepEqual(new Set(values), new Set(['token 1']))
})

test('it is kept for 80 % of its life, then renewed once', async () => {
  const world = new World(100)
  await world.keeper.get()
  world.nowMs = 79_999
  assert.equal(await world.keeper.get(), 'token 1')
  world.nowMs = 80_000
  const values = await Promise.all([world.keeper.get(), world.keeper.get(), world.keeper.get()])
  assert.deepEqual(values, ['token 2', 'token 2', 'token 2'])
})

test('while the token is still good, a failed renewal fails no call', async () => {
  const world = new World(100)
  await world.keeper.get()
  world.fails = true
  world.nowMs = 90_000
  assert.equal(await world.keeper.get(), 'token 1')
  world.nowMs = 100_000
  await assert.rejects(world.keeper.get(), /away/)
  world.fails = false
  assert.equal(await world.keeper.get(), 'token 2')
})

test('many who say that it was refused cause one new fetch', async () => {
  const world = new World(100)
  const first = await world.keeper.get()
  const values = await Promise.all(
    Array.from({ length: 10 }, async () => {
      world.keeper.refuse(first)
      return world.keeper.get()
    }),
  )
  assert.deepEqual(new Set(values), new Set(['token 2']))
  world.keeper.refuse(first)
  assert.equal(await world.keeper.get(), 'token 2')
})
