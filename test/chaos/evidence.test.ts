// Which row of the database tells of which request that a receiver saw.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RunRecord, StoredAttempt } from '../simulator/records.ts'
import { type Evidence, toRunRecord } from './evidence.ts'
import { limitsOf, SMOKE } from './settings.ts'

const ENDPOINT = 'endpoint'
const PATH = '/steady/1'

interface Copy {
  startedAtMs: number
  node: string
  /** 200 where it is not given. */
  status?: number
}

/** Copies of the first attempt of one delivery, by the process that owned the shard then. */
function evidenceOf(
  copies: readonly Copy[],
  rows: readonly number[],
  offsets: readonly number[],
): Evidence {
  const attempts = rows.map(
    (atMs): StoredAttempt => ({
      deliveryId: 'd',
      attempt: 1,
      atMs,
      outcome: 'answered',
      status: 200,
    }),
  )
  return {
    stored: {
      attempts,
      events: [],
      deliveries: [
        {
          ...{ id: 'd', eventId: 'e', endpointId: ENDPOINT, paymentId: 'p', sequence: 1 },
          ...{ state: 'DELIVERED', attempts: 1, isReplay: false },
          ...{ nextAttemptAtMs: null, deadlineAtMs: null },
        },
      ],
      finals: [],
      leases: copies.map(({ node, startedAtMs }, at) => ({
        ...{ shard: 0, epoch: at + 1, owner: node, atMs: startedAtMs - 50 },
      })),
      endpoints: [{ id: ENDPOINT, shard: 0 }],
      statuses: [],
      references: [],
    },
    nodes: new Map(),
    received: copies.map(({ startedAtMs, status = 200 }) => ({
      from: '127.0.0.1',
      ...{ path: PATH, webhookId: 'e', paymentId: 'p', sequence: 1, attempt: 1 },
      ...{ isReplay: false, bodyHash: 'h', keys: [1], status, wasLeft: false },
      ...{ startedAtMs, answeredAtMs: startedAtMs + 5 },
    })),
    known: [
      {
        ...{ path: PATH, id: ENDPOINT, acts: [], keys: 1 },
        ...{ isPaused: false, isDeleted: false },
      },
    ],
    clock: {
      distanceMs: (trueMs, rowMs) =>
        Math.min(...offsets.map((offsetMs) => Math.abs(trueMs + offsetMs - rowMs))),
    },
    limits: limitsOf(SMOKE),
    writes: [],
    replays: [],
    faults: [],
    dueAtFaultsEnd: [],
    faultsEndedAtMs: 20_000,
    endedAtMs: 30_000,
  }
}

/** The attempt number of each request; 0 where no row tells of it. */
function numbersOf({ requests }: RunRecord): number[] {
  return requests.map(({ attempt }) => attempt)
}

const TWO: readonly Copy[] = [
  { startedAtMs: 10_000, node: 'n1' },
  { startedAtMs: 11_500, node: 'n2' },
]

test('a row is that of the request nearest in time', () => {
  assert.deepEqual(numbersOf(toRunRecord(evidenceOf(TWO, [11_498], [0]))), [0, 1])
})

test('a request that was sent although the attempt is on record has no row', () => {
  assert.deepEqual(numbersOf(toRunRecord(evidenceOf(TWO, [10_002], [0]))), [1, 0])
})

test('regression: where the clock jumps, a row is that of the last of the requests that are about as near', () => {
  // The clock was set back by 1.5 s between the two: either of them may have been at 10.000 s. The first
  // process was killed, frozen or cut off: the second one would not have sent it again otherwise.
  assert.deepEqual(numbersOf(toRunRecord(evidenceOf(TWO, [10_000], [0, -1_500]))), [0, 1])
  assert.deepEqual(numbersOf(toRunRecord(evidenceOf(TWO, [9_900], [0, -1_500]))), [0, 1])
})

test('regression: of those that are about as near, a row is that of one that was answered as it says', () => {
  // The second process was frozen before the first one took over, and sent what it had in hand when it went on.
  const [first, second] = TWO as [Copy, Copy]
  const numbersFor = (one: number, other: number) =>
    numbersOf(
      toRunRecord(
        evidenceOf(
          [
            { ...first, status: one },
            { ...second, status: other },
          ],
          [10_000],
          [0, -1_500],
        ),
      ),
    )
  assert.deepEqual(numbersFor(200, 500), [1, 0])
  assert.deepEqual(numbersFor(500, 200), [0, 1])
  assert.deepEqual(numbersFor(500, 503), [0, 1], 'to be condemned')
})

test('regression: two rows of one attempt are those of two requests', () => {
  const run = toRunRecord(evidenceOf(TWO, [10_000, 10_001], [0, -1_500]))
  assert.deepEqual(numbersOf(run), [1, 1])
})

test('the only request of an attempt is the one that its row tells of', () => {
  const run = toRunRecord(evidenceOf(TWO.slice(0, 1), [9_999], [0]))
  assert.deepEqual(numbersOf(run), [1])
})

test('regression: what a process had handed to nobody yet when it was frozen may leave on waking: one request', () => {
  // Frozen from 10.1 to 11.5 s; the other process had the shard in the meantime, and one of them has it afterwards.
  const frozen = { kind: 'stall', node: 'n1', fromMs: 10_100, untilMs: 11_500 } as const
  const leftOf = (copies: readonly Copy[], owner = 'n2') => {
    const evidence = evidenceOf(copies, [], [0])
    const takings = ['n1', 'n2', owner].map((node, at) => ({
      ...{ shard: 0, epoch: at + 1, owner: node, atMs: 9_950 + 500 * at },
    }))
    Object.assign(evidence.stored, { leases: takings })
    Object.assign(evidence, {
      faults: [frozen],
      nodes: new Map(copies.map(({ node }) => [node, node])),
      received: evidence.received.map((line, at) => ({ ...line, from: copies[at]?.node })),
    })
    return toRunRecord(evidence).requests.map(({ hasLeftOnWaking }) => hasLeftOnWaking === true)
  }
  const before = { startedAtMs: 10_000, node: 'n1' }
  const other = { startedAtMs: 10_500, node: 'n2' }
  const waking = { startedAtMs: 11_405, node: 'n1' }
  assert.deepEqual(leftOf([before, other, waking]), [false, false, true])
  assert.deepEqual(leftOf([before, other, waking], 'n1'), [false, false, false], 'it has it again')
  const later = { startedAtMs: 11_406, node: 'n1' }
  assert.deepEqual(leftOf([before, waking, later]), [false, true, false], 'one is excused')
  const beside = { startedAtMs: 11_405, node: 'n1' }
  assert.deepEqual(leftOf([before, waking, beside]), [false, false, false], 'not looked at all')
  const late = { startedAtMs: 11_700, node: 'n1' }
  assert.deepEqual(leftOf([before, other, late]), [false, false, false], 'it was awake')
})

test('regression: an update that was under way in a frozen process is not owed to who registers meanwhile', () => {
  const evidence = evidenceOf([], [], [0])
  const [endpoint] = evidence.known
  const common = { askedAtMs: 1_000, acknowledgedAtMs: 2_000, node: 'any', keyName: null }
  endpoint?.acts.push({ ...common, kind: 'register', appliedAtMs: 3_500 })
  const owedSince = (...faults: Evidence['faults']) =>
    toRunRecord({ ...evidence, faults }).endpoints[0]?.acts[0]?.appliedAtMs
  assert.equal(owedSince(), 3_500)
  assert.equal(owedSince({ kind: 'stall', node: 's1', fromMs: 900, untilMs: 4_300 }), 5_800)
  assert.equal(owedSince({ kind: 'stall', node: 's1', fromMs: 3_600, untilMs: 9_000 }), 3_500)
  assert.equal(owedSince({ kind: 'stall', node: 's1', fromMs: 100, untilMs: 900 }), 3_500)
  assert.equal(owedSince({ kind: 'crash', node: 's1', fromMs: 900, untilMs: 4_300 }), 3_500)
})

test('regression: who connected has sent it, although another owned the shard by then', () => {
  const evidence = evidenceOf(TWO, [], [0])
  const received = evidence.received.map((line) => ({ ...line, from: '127.0.0.2' }))
  const nodesOf = (run: RunRecord) => run.requests.map(({ node }) => node)
  assert.deepEqual(nodesOf(toRunRecord({ ...evidence, received })), ['n1', 'n2'])
  const nodes = new Map([['127.0.0.2', 'n1']])
  assert.deepEqual(nodesOf(toRunRecord({ ...evidence, received, nodes })), ['n1', 'n1'])
})
