import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aborted, batch, control, fetched } from '../../../test/support/kafka-batches.ts'
import { readBatches } from './record-batches.ts'

const offsetsOf = (partition: Parameters<typeof readBatches>[0], position = 0n) => {
  const { records, next } = readBatches(partition, position)
  return { offsets: records.map(({ offset }) => Number(offset)), next: Number(next) }
}

test('records before the position are left out, although their batch comes whole', () => {
  const partition = fetched(0, [batch(3n, ['a', 'b', 'c']), batch(6n, ['d'])])
  assert.deepEqual(offsetsOf(partition, 4n), { offsets: [4, 5, 6], next: 7 })
})

test('where compaction has left nothing, the position goes on', () => {
  const emptied = { ...batch(3n, []), lastOffsetDelta: 4 }
  assert.deepEqual(offsetsOf(fetched(0, [emptied]), 3n), { offsets: [], next: 8 })
  assert.deepEqual(offsetsOf(fetched(0, []), 3n), { offsets: [], next: 3 })
})

test('records of an aborted transaction are left out, up to its end and no further', () => {
  const partition = aborted(
    fetched(0, [
      batch(0n, ['before'], 7n),
      control(1n, 'commit', 7n),
      batch(2n, ['aborted'], 7n),
      batch(3n, ['of another'], 8n),
      batch(4n, ['without one']),
      batch(5n, ['aborted, too'], 7n),
      control(6n, 'abort', 7n),
      batch(7n, ['after'], 7n),
    ]),
    { producerId: 7n, firstOffset: 2n },
  )
  assert.deepEqual(offsetsOf(partition), { offsets: [0, 3, 4, 7], next: 8 })
})

test('an aborted transaction whose end is not in the answer is left out, too', () => {
  const partition = aborted(fetched(0, [batch(2n, ['a', 'b'], 7n)]), {
    producerId: 7n,
    firstOffset: 2n,
  })
  assert.deepEqual(offsetsOf(partition, 2n), { offsets: [], next: 4 })
})
