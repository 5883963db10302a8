import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Full, UnderWay } from './under-way.ts'

function entered(entry: (() => void) | Full): () => void {
  assert.ok(typeof entry === 'function', `refused: ${entry}`)
  return entry
}

test('a client has its share, all clients together have theirs, and what is given back is free', () => {
  const underWay = new UnderWay<number>({ max: 5, perClientMax: 2 })
  const [first] = [entered(underWay.enter(1)), entered(underWay.enter(1))]
  assert.equal(underWay.enter(1), 'client')
  entered(underWay.enter(2, 2))
  assert.equal(underWay.enter(3, 2), 'all')
  entered(underWay.enter(3))
  assert.equal(underWay.enter(4), 'all')
  first?.()
  first?.()
  entered(underWay.enter(4))
  assert.equal(underWay.enter(1), 'all')
})
