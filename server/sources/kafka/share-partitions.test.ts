import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterMetadata } from '@platformatic/kafka'
import { sharePartitions } from './share-partitions.ts'

/** What each member gets, as `topic/partition`. */
function share(members: Record<string, string[]>, counts: Record<string, number>) {
  const subscribed = Object.entries(members).map(([memberId, topics]) => [
    memberId,
    { memberId, topics, version: 0 },
  ])
  const topics = Object.entries(counts).map(([topic, partitionsCount]) => [
    topic,
    { partitionsCount },
  ])
  const metadata = { topics: new Map(topics as []) } as ClusterMetadata
  const [leader = ''] = Object.keys(members)
  const own = new Set(members[leader])
  return Object.fromEntries(
    sharePartitions(leader, new Map(subscribed as []), own, metadata).map((one) => [
      one.memberId,
      [...one.assignments.values()].flatMap(({ topic, partitions }) =>
        partitions.map((partition) => `${topic}/${partition}`),
      ),
    ]),
  )
}

test('members that read one topic share its partitions evenly', () => {
  assert.deepEqual(share({ a: ['one'], b: ['one'] }, { one: 5 }), {
    a: ['one/0', 'one/2', 'one/4'],
    b: ['one/1', 'one/3'],
  })
})

test('members that read other topics get those of their own, whoever leads the group', () => {
  const members = { old: ['one'], new: ['two'], other: ['one'] }
  assert.deepEqual(share(members, { one: 3, two: 2 }), {
    old: ['one/0', 'one/2'],
    new: ['two/0', 'two/1'],
    other: ['one/1'],
  })
})

test('a member without a partition is told so', () => {
  assert.deepEqual(share({ a: ['one'], b: ['one'] }, { one: 1 }), { a: ['one/0'], b: [] })
})
