import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { retryPolicy } from './backoff.ts'
import { type Decision, decide, isSuccess, type Outcome, outcomeCode } from './delivery.ts'

const POLICY = retryPolicy()
const START_MS = Date.parse('2026-03-02T09:30:00Z')
const DEADLINE_MS = START_MS + POLICY.runMs
const MIDDLE = () => 0.5

const FAILURES: readonly Outcome[] = [
  ...[100, 201, 202, 204, 206, 299, 301, 302, 304, 307, 308, 400, 404, 410, 429, 500, 503, 599].map(
    (status): Outcome => ({ kind: 'answered', status }),
  ),
  { kind: 'unreachable', reason: 'timeout' },
  { kind: 'unreachable', reason: 'connect-error' },
  { kind: 'unreachable', reason: 'tls-error' },
  { kind: 'unreachable', reason: 'dns-error' },
  { kind: 'unreachable', reason: 'connection-reset' },
  { kind: 'unreachable', reason: 'protocol-error' },
  { kind: 'blocked', reason: 'blocked-address' },
  { kind: 'unsendable', reason: 'undecryptable-key' },
  { kind: 'unsendable', reason: 'payload-missing' },
]

function decideAt(nowMs: number, outcome: Outcome, attemptsInRun = 1): Decision {
  return decide({ attemptsInRun, deadlineAtMs: DEADLINE_MS }, outcome, POLICY, nowMs, MIDDLE)
}

test('only 200 is success; everything else is tried again', () => {
  assert.deepEqual(decideAt(START_MS, { kind: 'answered', status: 200 }), { state: 'DELIVERED' })
  for (const outcome of FAILURES) {
    assert.equal(isSuccess(outcome), false)
    assert.deepEqual(
      decideAt(START_MS, outcome),
      { state: 'PENDING', nextAttemptAtMs: START_MS + 5_000 },
      JSON.stringify(outcome),
    )
  }
})

test('a 200 is a success at any time, a failure after the last start is the end', () => {
  const lastStartMs = DEADLINE_MS - POLICY.lastStartMarginMs
  for (const nowMs of [lastStartMs, DEADLINE_MS - 1, DEADLINE_MS, DEADLINE_MS + 1e9]) {
    assert.deepEqual(decideAt(nowMs, { kind: 'answered', status: 200 }), { state: 'DELIVERED' })
    for (const outcome of FAILURES) {
      assert.deepEqual(decideAt(nowMs, outcome, 40), { state: 'EXHAUSTED' })
    }
  }
  assert.deepEqual(
    decideAt(lastStartMs - 1, { kind: 'answered', status: 500 }, 40),
    { state: 'PENDING', nextAttemptAtMs: lastStartMs },
    'the last attempt is pulled forward',
  )
})

test('Retry-After is read on 429 and 503 alone', () => {
  for (const status of [200, 201, 301, 302, 400, 404, 413, 428, 429, 430, 500, 502, 503, 504]) {
    const decision = decideAt(START_MS, { kind: 'answered', status, retryAfter: '8' })
    const expectedMs = status === 429 || status === 503 ? 8_000 : 5_000
    const expected =
      status === 200
        ? { state: 'DELIVERED' }
        : { state: 'PENDING', nextAttemptAtMs: START_MS + expectedMs }
    assert.deepEqual(decision, expected, `${status}`)
  }
})

/** Starts of all attempts of a run whose receiver never says 200. */
function runOut(random: () => number, tookMs: () => number, outcome: () => Outcome): number[] {
  const starts: number[] = []
  let nowMs = START_MS
  for (;;) {
    starts.push(nowMs)
    const endedMs = nowMs + tookMs()
    const delivery = { attemptsInRun: starts.length, deadlineAtMs: DEADLINE_MS }
    const decision = decide(delivery, outcome(), POLICY, endedMs, random)
    if (decision.state !== 'PENDING') return starts
    assert.ok(decision.nextAttemptAtMs > nowMs, 'time moves on')
    nowMs = decision.nextAttemptAtMs
  }
}

/** The same numbers in every run: a failure can be looked at again. */
function dice(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

test('I4: 38 to 43 attempts in 7 days, none after them, the last in their final 5 minutes, in 20,000 draws', () => {
  const random = dice(20_260_302)
  for (let draw = 0; draw < 20_000; draw++) {
    const starts = runOut(
      random,
      () => (random() < 0.1 ? 15_000 : random() * 500),
      () => ({ kind: 'answered', status: 500 }),
    )
    assert.ok(starts.length >= 38 && starts.length <= 43, `draw ${draw}: ${starts.length}`)
    const last = starts.at(-1) as number
    assert.ok(last < DEADLINE_MS && last >= DEADLINE_MS - 300_000, `draw ${draw}: ${last}`)
  }
})

test('I4: gaps are at most 7.2 h, or twice that under Retry-After, and the last attempt is where it was', () => {
  const random = dice(7)
  for (const [outcome, hours] of [
    [{ kind: 'answered', status: 500 }, 7.2],
    [{ kind: 'answered', status: 503, retryAfter: '999999999' }, 14.4],
  ] satisfies [Outcome, number][]) {
    for (let draw = 0; draw < 500; draw++) {
      const starts = runOut(
        random,
        () => 100,
        () => outcome,
      )
      for (const [index, start] of starts.entries()) {
        const gapMs = start - (starts[index - 1] ?? start)
        assert.ok(gapMs <= hours * 3_600_000 + 1_000, `${gapMs}`)
      }
      assert.ok((starts.at(-1) as number) >= DEADLINE_MS - 300_000)
    }
  }
})

test('F25: whatever attempt, answer and moment, the next start is a time inside the 7 days', () => {
  const outcome = fc.record({
    kind: fc.constant('answered' as const),
    status: fc.integer({ min: 100, max: 599 }).filter((status) => status !== 200),
    retryAfter: fc.constantFrom('1e12', '-1', 'NaN', '99999', 'Fri, 01 Jan 2100 00:00:00 GMT'),
  })
  const offset = fc.integer({ min: 0, max: 8 * 86_400_000 })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000 }), outcome, offset, (attempts, answer, ms) => {
      const nowMs = START_MS + ms
      const decision = decideAt(nowMs, answer, attempts)
      if (decision.state === 'EXHAUSTED') {
        assert.ok(nowMs >= DEADLINE_MS - POLICY.lastStartMarginMs)
      } else {
        assert.equal(decision.state, 'PENDING')
        const { nextAttemptAtMs } = decision as { nextAttemptAtMs: number }
        assert.ok(nextAttemptAtMs > nowMs && nextAttemptAtMs < DEADLINE_MS)
      }
    }),
  )
})

test('an outcome has one word', () => {
  assert.equal(outcomeCode({ kind: 'answered', status: 503 }), 'answered')
  assert.equal(outcomeCode({ kind: 'unreachable', reason: 'timeout' }), 'timeout')
  assert.equal(outcomeCode({ kind: 'blocked', reason: 'blocked-address' }), 'blocked-address')
  const unsendable = { kind: 'unsendable', reason: 'undecryptable-key' } as const
  assert.equal(outcomeCode(unsendable), 'undecryptable-key')
})
