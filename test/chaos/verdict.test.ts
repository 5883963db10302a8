// The judge of the feeds can condemn: a checker that never fails shows nothing.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FedWrite, type Feed, ROLLED_BACK } from './feeds.ts'
import { judgeFeeds } from './verdict.ts'

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
