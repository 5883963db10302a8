// The judge of delays can condemn, and excuses a retry by the times on the rows alone.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { schedule } from './check-schedule.ts'
import { DAY, SECOND } from './durations.ts'
import { drawPlan } from './plan.ts'
import type { EndpointAct, StoredAttempt } from './records.ts'
import { RunIndex } from './run-index.ts'
import { loadSubject } from './subject.ts'

const { limits } = drawPlan(1, await loadSubject())
const AT_MS = 100 * SECOND

/** Two attempts a second apart, and what was asked for 2 ms before the first, but for its time on the rows. */
function judge(writtenMs: number | undefined): string[] {
  const asked = { kind: 'retry', askedAtMs: AT_MS - 20, appliedAtMs: AT_MS - 2 } as const
  const act: EndpointAct = { ...asked, acknowledgedAtMs: null, node: 'n1', keyName: null }
  if (writtenMs !== undefined) act.writtenMs = writtenMs
  const attempt = (number: number, atMs: number): StoredAttempt => ({
    ...{ deliveryId: 'd', attempt: number, atMs, outcome: 'answered', status: 500 },
  })
  const seen = new RunIndex({
    limits: { ...limits, clocksApartMs: 2 * SECOND },
    endpoints: [{ id: 'e', accountId: null, events: null, acts: [act] }],
    ...{ writes: [], events: [], finals: [], replays: [], requests: [], faults: [], leases: [] },
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
        ...{ attempts: 2, nextAttemptAtMs: null, deadlineAtMs: 7 * DAY, isReplay: false },
      },
    ],
    attempts: [attempt(1, AT_MS), attempt(2, AT_MS + SECOND)],
    ...{ dueAtFaultsEnd: [], faultsEndedAtMs: 0, endedAtMs: AT_MS + DAY },
  })
  return schedule(seen).map(({ invariant, detail }) => `${invariant} ${detail}`)
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
