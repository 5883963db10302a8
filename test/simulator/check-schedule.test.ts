// The judge of delays can condemn, and excuses a retry by the times on the rows alone.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { schedule, sevenDays } from './check-schedule.ts'
import { DAY, MINUTE, SECOND } from './durations.ts'
import { drawPlan } from './plan.ts'
import type { EndpointAct, ReceivedRequest, StoredAttempt, Violation } from './records.ts'
import { RunIndex } from './run-index.ts'
import { loadSubject } from './subject.ts'

const { limits } = drawPlan(1, await loadSubject())
const AT_MS = 100 * SECOND

/** What a delivery that fails has made, with attempts at these moments, and what was done to its endpoint. */
function indexOf(
  acts: EndpointAct[],
  attemptsAtMs: readonly number[],
  requests: ReceivedRequest[],
  deadlineAtMs: number,
) {
  const attempts = attemptsAtMs.map(
    (atMs, index): StoredAttempt => ({
      ...{ deliveryId: 'd', attempt: index + 1, atMs, outcome: 'answered', status: 500 },
    }),
  )
  return new RunIndex({
    limits: { ...limits, clocksApartMs: 2 * SECOND, clockErrorMs: SECOND },
    endpoints: [{ id: 'e', accountId: null, events: null, acts }],
    ...{ writes: [], events: [], finals: [], replays: [], faults: [], leases: [] },
    deliveries: [
      {
        ...{
          id: 'd',
          eventId: 'v',
          endpointId: 'e',
          paymentId: 'p',
          sequence: 1,
          state: 'PENDING',
        },
        ...{ attempts: 2, nextAttemptAtMs: null, deadlineAtMs, isReplay: false },
      },
    ],
    ...{ attempts, requests },
    ...{ dueAtFaultsEnd: [], faultsEndedAtMs: 0, endedAtMs: AT_MS + DAY },
  })
}

function told(violations: readonly Violation[]): string[] {
  return violations.map(({ invariant, detail }) => `${invariant} ${detail}`)
}

/** Two attempts a second apart, and what was asked for 2 ms before the first, but for its time on the rows. */
function judge(writtenMs: number | undefined): string[] {
  const asked = { kind: 'retry', askedAtMs: AT_MS - 20, appliedAtMs: AT_MS - 2 } as const
  const act: EndpointAct = { ...asked, acknowledgedAtMs: null, node: 'n1', keyName: null }
  if (writtenMs !== undefined) act.writtenMs = writtenMs
  return told(schedule(indexOf([act], [AT_MS, AT_MS + SECOND], [], 7 * DAY)))
}

test('I4: an attempt is early, unless by its rows it was asked for since the one before', () => {
  const early = ['I4 update 1 (PENDING): attempt 2 comes early']
  assert.deepEqual(judge(AT_MS + 1), [], 'a clock that is ahead')
  assert.deepEqual(judge(AT_MS + SECOND), [])
  assert.deepEqual(judge(AT_MS), early, 'it was heeded by the first')
  assert.deepEqual(judge(AT_MS - 20), early)
  assert.deepEqual(judge(AT_MS + SECOND + 1), early, 'not asked for yet')
  assert.deepEqual(judge(undefined), early, 'where it is not known')
})

test('I4: the 7 days are lengthened by how long it was paused, by the times on its rows', () => {
  const switched = (kind: 'pause' | 'resume', atMs: number, writtenMs: number): EndpointAct => ({
    ...{ kind, askedAtMs: atMs, appliedAtMs: atMs, acknowledgedAtMs: atMs, writtenMs },
    ...{ node: 'n1', keyName: null },
  })
  /** Paused for a minute, which was so many seconds longer by the clock of the rows. */
  const judgeLast = (longerMs: number, sentAtMs: number, storedMs = endMs + longerMs) => {
    const resumedAtMs = AT_MS + 2 * MINUTE
    const acts = [
      switched('pause', AT_MS + MINUTE, AT_MS + MINUTE),
      switched('resume', resumedAtMs, resumedAtMs + longerMs),
    ]
    const request: ReceivedRequest = {
      ...{ endpointId: 'e', webhookId: 'v', paymentId: 'p', sequence: 1, attempt: 2 },
      ...{
        isReplay: false,
        bodyHash: '',
        signedBy: [],
        node: 'n1',
        sentAtMs,
        startedAtMs: sentAtMs,
      },
      ...{ status: 500, answeredAtMs: sentAtMs, wasAnswerHeard: true },
    }
    return told(sevenDays(indexOf(acts, [AT_MS, sentAtMs], [request], storedMs)))
  }
  const endMs = AT_MS + limits.runMs + MINUTE
  const late = ['I4 update 1 (PENDING): an attempt starts after the 7 days']
  const odd = ['I4 update 1 (PENDING): the end is not 7 days after the first attempt']
  assert.deepEqual(judgeLast(0, endMs + SECOND), [])
  assert.deepEqual(judgeLast(0, endMs + 2 * SECOND), late)
  assert.deepEqual(judgeLast(10 * SECOND, endMs + 11 * SECOND), [])
  assert.deepEqual(judgeLast(10 * SECOND, endMs + 12 * SECOND), late)
  const unpausedMs = endMs - MINUTE
  assert.deepEqual(judgeLast(-2 * MINUTE, unpausedMs + SECOND, unpausedMs), [], 'never shorter')
  assert.deepEqual(judgeLast(-2 * MINUTE, unpausedMs + 2 * SECOND, unpausedMs), late)
  assert.deepEqual(judgeLast(0, endMs, endMs + 2 * SECOND), odd)
  assert.deepEqual(judgeLast(10 * SECOND, endMs, endMs), odd, 'stored without its pause')
  assert.deepEqual(judgeLast(10 * SECOND, endMs, endMs + 20 * SECOND), odd, 'added twice')
})

test('regression: a pause that begins when the end has passed, and nothing was given up yet, moves it as well', () => {
  const endMs = AT_MS + limits.runMs
  const acts = (['pause', 'resume'] as const).map((kind, index): EndpointAct => {
    const atMs = endMs + 5 * SECOND + index * MINUTE
    const times = { askedAtMs: atMs, appliedAtMs: atMs, acknowledgedAtMs: atMs, writtenMs: atMs }
    return { kind, ...times, node: 'n1', keyName: null }
  })
  const judgeStored = (storedMs: number) =>
    told(sevenDays(indexOf(acts, [AT_MS, AT_MS + SECOND], [], storedMs)))
  assert.deepEqual(judgeStored(endMs + MINUTE), [])
  assert.deepEqual(judgeStored(endMs), [
    'I4 update 1 (PENDING): the end is not 7 days after the first attempt',
  ])
})
