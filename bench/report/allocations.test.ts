import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AllocationNode, sumAllocations } from './allocations.ts'

function frame(
  functionName: string,
  url: string,
  selfSize: number,
  ...children: AllocationNode[]
): AllocationNode {
  return { callFrame: { functionName, url, lineNumber: 9 }, selfSize, children }
}

test('bytes count for the innermost file of ours or of a package, and all of them are counted', () => {
  const parse = frame('parse', 'file:///any/server/core/json.ts', 100, frame('slice', '', 20))
  const write = frame(
    'write',
    '/any/node_modules/pg/lib/client.js',
    7,
    frame('on', 'node:events', 3),
  )
  const sums = sumAllocations(
    frame('(root)', '', 0, frame('run', 'node:internal/run', 5, parse), write),
  )
  assert.equal(sums.total, 135)
  assert.deepEqual(sums.byFile, [
    ['server/core/json.ts', 120],
    ['pg/lib/client.js', 10],
    ['(node)', 5],
  ])
  assert.deepEqual(sums.byFunction.slice(0, 4), [
    ['parse server/core/json.ts:10', 120],
    ['write pg/lib/client.js:10', 7],
    ['run under (node)', 5],
    ['on under write pg/lib/client.js:10', 3],
  ])
})
