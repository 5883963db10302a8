import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WaitingBodies } from './waiting-bodies.ts'

test('at its limit, an address gives up the one that has waited longest', () => {
  const waiting = new WaitingBodies({ max: 10, perAddressMax: 2 })
  const givenUp: number[] = []
  const leaves = [1, 2, 3, 4].map((n) => waiting.enter('a', () => givenUp.push(n)))
  assert.deepEqual(givenUp, [1, 2])
  assert.equal(waiting.count, 2)
  for (const leave of [...leaves, ...leaves]) leave()
  assert.equal(waiting.count, 0)
})

test('at the limit of all, the address with the most gives up its oldest', () => {
  const waiting = new WaitingBodies({ max: 4, perAddressMax: 3 })
  const givenUp: string[] = []
  for (const [address, name] of ['a1', 'a2', 'a3', 'b1', 'c1', 'd1'].map((n) => [n[0], n])) {
    waiting.enter(address as string, ({ code }) => givenUp.push(`${name} ${code}`))
  }
  assert.deepEqual(givenUp, ['a1 request-timeout', 'a2 request-timeout'])
  assert.equal(waiting.count, 4)
})
