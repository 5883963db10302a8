// The judge of the feeds can condemn: a checker that never fails shows nothing.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FedWrite, type Feed, ROLLED_BACK } from './feeds.ts'
import { findRescues, judgeFeeds } from './verdict.ts'

function acknowledged(versions: readonly number[], feed: Feed = 'sql'): FedWrite[] {
  return versions.map((version) => ({
    ...{ paymentId: 'p', accountId: 'a', version, feed, outcome: 'changed', event: null },
    ...{ askedAtMs: version, acknowledgedAtMs: version },
  }))
}

const judge = (writes: FedWrite[], ...references: string[]) =>
  judgeFeeds({ writes, references: [{ paymentId: 'p', references }] }).length

test('what was acknowledged is recorded, each update once and in order', () => {
  assert.equal(judge(acknowledged([1, 2]), 'update 1', 'update 2'), 0)
  assert.equal(judge(acknowledged([1, 2], 'nats'), 'update 1'), 1, 'one is lost')
  assert.equal(judge(acknowledged([1, 2]), 'update 2', 'update 1'), 1, 'out of order')
  assert.equal(judge(acknowledged([1]), 'update 1', 'update 1'), 1, 'twice')
  assert.equal(judge(acknowledged([1]), 'update 1', ROLLED_BACK), 1, 'has never been')
  assert.equal(judgeFeeds({ writes: acknowledged([1]), references: [] }).length, 1, 'all is lost')
})

test('a shard whose owner is killed has none until another takes it, whatever else is struck meanwhile', () => {
  const taken = (owner: string, epoch: number, atMs: number) => ({ shard: 3, epoch, owner, atMs })
  const leases = [taken('s1', 1, 100), taken('s2', 2, 1_900), taken('s1', 3, 5_000)]
  const kills = [
    { node: 's1', atMs: 1_000 },
    { node: 's3', atMs: 1_200 },
    { node: 's2', atMs: 4_000 },
    { node: 's1', atMs: 6_000 },
  ]
  const { takenMs } = findRescues({ leases, requests: [] }, new Map(), kills)
  assert.deepEqual(takenMs, [900, 1_000], 'the last has not been taken again')
})
