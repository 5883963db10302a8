// The judge of the feeds can condemn: a checker that never fails shows nothing.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReceivedRequest } from '../simulator/records.ts'
import { type FedWrite, type Feed, ROLLED_BACK } from './feeds.ts'
import { limitsOf, SMOKE } from './settings.ts'
import { findRescues, judge as judgeAll, judgeFeeds } from './verdict.ts'

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

test('what leaves frozen processes on waking is condemned where it is more than chance', () => {
  const condemned = (left: number) => {
    const requests = Array.from(
      { length: left },
      (_, at): ReceivedRequest => ({
        ...{ endpointId: `${at}`, webhookId: `${at}`, paymentId: `${at}`, sequence: 1, attempt: 0 },
        ...{ isReplay: false, bodyHash: 'h', signedBy: null, node: 's1', hasLeftOnWaking: true },
        ...{ sentAtMs: at, startedAtMs: at, status: 200, answeredAtMs: at, wasAnswerHeard: true },
      }),
    )
    const none = { writes: [], endpoints: [], references: [] }
    const { violations, figures } = judgeAll(
      {
        ...{ limits: limitsOf(SMOKE), replays: [], faults: [], dueAtFaultsEnd: [], ...none },
        ...{ events: [], deliveries: [], attempts: [], finals: [], leases: [], statuses: [] },
        ...{ requests, faultsEndedAtMs: 20_000, endedAtMs: 30_000 },
      },
      {
        ...{ kills: [], stops: [], ownEnds: [], oddAnswers: [], statuses: [], shards: new Map() },
        ...{ isDrained: true, disableAfterMs: 1_000, drainedInMs: 0, ...none },
      },
    )
    assert.equal(figures['left a frozen process on waking'], left)
    return violations.filter(({ invariant }) => invariant === 'I12').length
  }
  assert.deepEqual([condemned(1), condemned(3), condemned(4)], [0, 0, 1])
})
