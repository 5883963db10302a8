import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { retryPolicy } from './backoff.ts'
import { circuitPolicy } from './circuit.ts'
import { FINAL_STATES } from './delivery.ts'
import {
  attemptsInRun,
  type ExplainedDelivery,
  type ExplanationContext,
  explain,
} from './explanation.ts'

const NOW = Date.parse('2026-11-14T14:00:40.000Z')
const at = (text: string) => Date.parse(`2026-11-14T${text}Z`)

const CONTEXT: ExplanationContext = {
  nowMs: NOW,
  retry: retryPolicy(),
  circuit: circuitPolicy(),
  patienceMs: 3_600_000,
  reader: 'client',
}

const ENDPOINT: ExplainedDelivery['endpoint'] = {
  status: 'ACTIVE',
  isDeleted: false,
  inactiveSinceMs: null,
  circuit: 'CLOSED',
  nextProbeAtMs: null,
}

/** Never attempted, and due. */
const FRESH: ExplainedDelivery = {
  state: 'PENDING',
  attempts: 0,
  runAttempts: 0,
  isReplay: false,
  nextAttemptAtMs: NOW,
  deadlineAtMs: null,
  finishedAtMs: null,
  lastAttempt: null,
  endpoint: ENDPOINT,
  elder: null,
  newer: null,
  supersededBy: null,
}

/** Failed six times, to be tried again in 2 min 40 s. */
const RETRIED: ExplainedDelivery = {
  ...FRESH,
  attempts: 6,
  runAttempts: 6,
  nextAttemptAtMs: at('14:03:20.000'),
  deadlineAtMs: Date.parse('2026-11-21T13:58:05.000Z'),
  lastAttempt: { atMs: at('14:00:36.000'), durationMs: 84, outcome: 'answered', status: 204 },
}

const failed = (outcome: string, status: number | null = null): ExplainedDelivery => ({
  ...RETRIED,
  lastAttempt: { atMs: at('14:00:36.000'), durationMs: 84, outcome, status },
})

const NEXT = 'Next attempt in 2 min 40 s (14:03:20 UTC); retries end 21 Nov 13:58 UTC.'

/** What became of the attempt, and what is said of it. */
const FAILURES: readonly [name: string, outcome: string, said: string][] = [
  ['a timeout', 'timeout', 'timed out.'],
  [
    'a refused connection',
    'connect-error',
    'could not connect. The connection was refused, or the host is unreachable.',
  ],
  [
    'a name without an address',
    'dns-error',
    'no public address. The host name has none that callbacks may be sent to.',
  ],
  [
    'a bad certificate',
    'tls-error',
    'TLS error. The certificate is invalid, or the handshake failed.',
  ],
  [
    'a token that was refused',
    'token-refused',
    'token refused. The token endpoint gave no token that can be used.',
  ],
  [
    'a token endpoint that is away',
    'token-unreachable',
    'token endpoint not reached. It could not be reached, or failed itself.',
  ],
  ['a connection that was reset', 'connection-reset', 'connection closed before the response.'],
  ['an answer that is no HTTP', 'protocol-error', 'response is not HTTP.'],
  [
    'a blocked address',
    'blocked-address',
    'no public address. The host name has none that callbacks may be sent to.',
  ],
  [
    'a key that does not open',
    'undecryptable-key',
    'stored key cannot be decrypted. A master key is missing, or the address is not the one that was registered. Nothing is sent.',
  ],
  ['an event that is gone', 'payload-missing', 'event no longer stored.'],
  ['a header that cannot be sent', 'invalid-header', 'extra header is invalid.'],
  ['an outcome of a later version', 'eaten-by-bear', 'eaten-by-bear.'],
]

const CASES: readonly [name: string, delivery: ExplainedDelivery, expected: string][] = [
  ...FAILURES.map(([name, outcome, said]): [string, ExplainedDelivery, string] => [
    name,
    failed(outcome),
    `Attempt 6 of about 40 failed: ${said} ${NEXT}`,
  ]),
  ['the first attempt is due', FRESH, 'The first attempt is due now.'],
  [
    'the first attempt lies ahead',
    { ...FRESH, nextAttemptAtMs: NOW + 5_000 },
    'First attempt in 5 s (14:00:45 UTC).',
  ],
  [
    'a 2xx that is not 200',
    RETRIED,
    `Attempt 6 of about 40 got 204. Only 200 counts as delivered. ${NEXT}`,
  ],
  ['a 500', failed('answered', 500), `Attempt 6 of about 40 got 500. ${NEXT}`],
  [
    'a redirect',
    failed('answered', 302),
    `Attempt 6 of about 40 got 302, a redirect. Redirects are not followed. ${NEXT}`,
  ],
  [
    'a 410',
    failed('answered', 410),
    `Attempt 6 of about 40 got 410. A 410 is retried too: delete the endpoint to stop its callbacks. ${NEXT}`,
  ],
  [
    'an attempt whose row is gone',
    { ...RETRIED, lastAttempt: null },
    `Attempt 6 of about 40 failed. ${NEXT}`,
  ],
  [
    'a 429 within the usual delay',
    failed('answered', 429),
    `Attempt 6 of about 40 got 429 (too many requests). ${NEXT}`,
  ],
  [
    'a 503 that asked for more time',
    { ...failed('answered', 503), nextAttemptAtMs: at('14:05:20.000') },
    'Attempt 6 of about 40 got 503. Your endpoint asked for a longer wait (Retry-After). Next attempt in 4 min 40 s (14:05:20 UTC); retries end 21 Nov 13:58 UTC.',
  ],
  [
    'a retry that is due',
    { ...RETRIED, nextAttemptAtMs: NOW - 1 },
    'Attempt 6 of about 40 got 204. Only 200 counts as delivered. The next attempt is due now.',
  ],
  [
    'a retry on another day',
    {
      ...failed('answered', 500),
      nextAttemptAtMs: at('14:00:40.000') + 6 * 3_600_000 + 4 * 3_600_000,
    },
    'Attempt 6 of about 40 got 500. Next attempt in 10 h (15 Nov 00:00 UTC); retries end 21 Nov 13:58 UTC.',
  ],
  [
    'held back by an older update that fails',
    { ...FRESH, elder: { sequence: 2, firstFailedAtMs: at('13:20:10.000') } },
    'Waiting for update 2 of the same payment, which has failed since 13:20:10 UTC. This one is sent in 19 min 30 s at the latest (14:20:10 UTC).',
  ],
  [
    'held back since yesterday, by a patience of days',
    {
      ...FRESH,
      elder: { sequence: 2, firstFailedAtMs: Date.parse('2026-11-13T22:05:00.000Z') },
    },
    'Waiting for update 2 of the same payment, which has failed since 13 Nov 22:05 UTC. This one no longer has to wait, and is sent next.',
  ],
  [
    'held back by an older update that has not failed',
    { ...FRESH, elder: { sequence: 1, firstFailedAtMs: null } },
    'Waiting for update 1 of the same payment, which is sent first.',
  ],
  [
    'overtaken by a newer update that is being tried',
    { ...RETRIED, newer: { sequence: 3, attempts: 2 } },
    'Attempt 6 of about 40 got 204. Only 200 counts as delivered. Update 3 of the same payment has gone ahead, so this older one is on hold. If update 3 is accepted, this one is superseded; otherwise it is retried until 21 Nov 13:58 UTC.',
  ],
  [
    'about to be overtaken',
    { ...failed('timeout'), newer: { sequence: 3, attempts: 0 } },
    'Attempt 6 of about 40 failed: timed out. Update 3 of the same payment goes ahead now, so this older one is on hold. If update 3 is accepted, this one is superseded; otherwise it is retried until 21 Nov 13:58 UTC.',
  ],
  [
    'a replay, which keeps no order',
    { ...FRESH, isReplay: true, newer: { sequence: 3, attempts: 2 } },
    'A replay was requested. The first attempt is due now.',
  ],
  [
    'a paused endpoint',
    {
      ...FRESH,
      nextAttemptAtMs: null,
      endpoint: { ...ENDPOINT, status: 'PAUSED', inactiveSinceMs: at('09:15:00.000') },
    },
    'Your endpoint has been paused since 09:15 UTC. Nothing is lost: this delivery is sent, in order, once the endpoint is resumed (status ACTIVE), and the wait does not count towards its 7 days.',
  ],
  [
    'a listener without a request',
    {
      ...FRESH,
      nextAttemptAtMs: null,
      endpoint: {
        ...ENDPOINT,
        status: 'PAUSED',
        inactiveSinceMs: at('09:15:00.000'),
        isListener: true,
      },
    },
    'No listener has been connected since 09:15 UTC. Nothing is lost: this delivery is sent, in order, when paybell listen runs again, and the wait does not count towards its 7 days.',
  ],
  [
    'a disabled endpoint',
    {
      ...FRESH,
      nextAttemptAtMs: null,
      endpoint: {
        ...ENDPOINT,
        status: 'DISABLED',
        inactiveSinceMs: Date.parse('2026-11-13T09:15:00Z'),
      },
    },
    'Your endpoint was disabled automatically (13 Nov 09:15 UTC), after 7 days of nothing but failures. Nothing is lost: this delivery is sent, in order, once the endpoint is resumed (status ACTIVE), and the wait does not count towards its 7 days.',
  ],
  [
    'an open circuit',
    {
      ...failed('answered', 500),
      nextAttemptAtMs: null,
      endpoint: { ...ENDPOINT, circuit: 'OPEN', nextProbeAtMs: NOW + 120_000 },
    },
    'Attempt 6 of about 40 got 500. Your endpoint is down. Paybell probes it next in 2 min (14:02:40 UTC), then at least every 5 min, and sends this as soon as a probe succeeds; retries end 21 Nov 13:58 UTC.',
  ],
  [
    'an open circuit, and an attempt that is due',
    {
      ...failed('answered', 500),
      nextAttemptAtMs: NOW - 1_000,
      endpoint: { ...ENDPOINT, circuit: 'OPEN', nextProbeAtMs: NOW },
    },
    'Attempt 6 of about 40 got 500. Your endpoint is down. Paybell probes it next now, then at least every 5 min, and sends this as soon as a probe succeeds; retries end 21 Nov 13:58 UTC.',
  ],
  [
    'an open circuit before the first attempt',
    {
      ...FRESH,
      nextAttemptAtMs: null,
      endpoint: { ...ENDPOINT, circuit: 'HALF_OPEN', nextProbeAtMs: NOW },
    },
    'Your endpoint is down. Paybell probes it next now, then at least every 5 min, and sends this as soon as a probe succeeds.',
  ],
  [
    'a long queue',
    { ...FRESH, nextAttemptAtMs: null },
    'Queued: your endpoint has a long queue, which is sent in order.',
  ],
  [
    'a deleted endpoint whose deliveries are being cancelled',
    { ...FRESH, endpoint: { ...ENDPOINT, isDeleted: true } },
    'The endpoint was deleted; this delivery is being cancelled.',
  ],
  [
    'a replay that has not begun, before which older updates do not count',
    { ...FRESH, attempts: 41, isReplay: true, elder: { sequence: 1, firstFailedAtMs: null } },
    'A replay was requested. The first attempt is due now.',
  ],
  [
    'a replay that fails again',
    { ...failed('answered', 500), attempts: 43, runAttempts: 2, isReplay: true },
    `Attempt 43 (number 2 of about 40 since the replay) got 500. ${NEXT}`,
  ],
  [
    'delivered at once',
    {
      ...FRESH,
      state: 'DELIVERED',
      attempts: 1,
      runAttempts: null,
      nextAttemptAtMs: null,
      lastAttempt: { atMs: at('13:58:05.000'), durationMs: 120, outcome: 'answered', status: 200 },
    },
    'Delivered: your endpoint answered 200 to the first attempt (13:58:05 UTC).',
  ],
  [
    'delivered after some',
    {
      ...FRESH,
      state: 'DELIVERED',
      attempts: 7,
      runAttempts: null,
      nextAttemptAtMs: null,
      finishedAtMs: at('13:59:00.000'),
    },
    'Delivered: your endpoint answered 200 to attempt 7 (13:59:00 UTC).',
  ],
  [
    'exhausted',
    {
      ...failed('answered', 204),
      state: 'EXHAUSTED',
      attempts: 41,
      runAttempts: null,
      nextAttemptAtMs: null,
      deadlineAtMs: at('13:58:05.000'),
    },
    'Gave up: 7 days of retries ended 13:58:05 UTC without a 200. The last of 41 attempts got 204. Only 200 counts as delivered. Replay it when your endpoint works again.',
  ],
  [
    'exhausted without its attempts',
    { ...FRESH, state: 'EXHAUSTED', nextAttemptAtMs: null, finishedAtMs: at('13:58:05.000') },
    'Gave up: 7 days of retries ended 13:58:05 UTC without a 200. Replay it when your endpoint works again.',
  ],
  [
    'superseded',
    {
      ...FRESH,
      state: 'SUPERSEDED',
      nextAttemptAtMs: null,
      supersededBy: { sequence: 3, wasAccepted: true },
    },
    'Superseded: your endpoint accepted update 3 of the same payment first. Every callback carries the whole payment, so nothing is missing.',
  ],
  [
    'superseded by the latest, which was accepted',
    {
      ...FRESH,
      state: 'SUPERSEDED',
      nextAttemptAtMs: null,
      supersededBy: { sequence: 3, wasAccepted: true },
      endpoint: { ...ENDPOINT, isLatestOnly: true },
    },
    'Superseded: your endpoint accepted update 3 of the same payment first. Your endpoint gets only the latest update of a payment (deliver: latest). Every callback carries the whole payment, so nothing is missing.',
  ],
  [
    'superseded by the latest, which is still tried',
    {
      ...FRESH,
      state: 'SUPERSEDED',
      nextAttemptAtMs: null,
      supersededBy: { sequence: 3, wasAccepted: false },
      endpoint: { ...ENDPOINT, isLatestOnly: true },
    },
    'Superseded: update 3 of the same payment was sent in its place, because your endpoint gets only the latest update of a payment (deliver: latest). Every callback carries the whole payment, so nothing is missing.',
  ],
  [
    'about to be superseded by the latest',
    {
      ...FRESH,
      newer: { sequence: 3, attempts: 0 },
      endpoint: { ...ENDPOINT, isLatestOnly: true },
    },
    'Update 3 of the same payment is sent in its place, because your endpoint gets only the latest update of a payment (deliver: latest). This one ends as superseded with the first attempt of update 3.',
  ],
  [
    'superseded by something that is gone',
    { ...FRESH, state: 'SUPERSEDED', nextAttemptAtMs: null },
    'Superseded: your endpoint accepted a newer update of the same payment first. Every callback carries the whole payment, so nothing is missing.',
  ],
  [
    'cancelled with its endpoint',
    {
      ...FRESH,
      state: 'CANCELLED',
      nextAttemptAtMs: null,
      finishedAtMs: at('12:00:00.000'),
      endpoint: { ...ENDPOINT, isDeleted: true },
    },
    'Cancelled because its endpoint was deleted (12:00 UTC). It was never attempted.',
  ],
  [
    'cancelled by the operator',
    {
      ...FRESH,
      state: 'CANCELLED',
      attempts: 2,
      nextAttemptAtMs: null,
      finishedAtMs: Date.parse('2026-11-13T12:00:00Z'),
    },
    'Cancelled by the operator (13 Nov 12:00 UTC). It was attempted 2 times, without a 200.',
  ],
]

describe('explanations', () => {
  for (const [name, delivery, expected] of CASES) {
    test(name, () => assert.equal(explain(delivery, CONTEXT).text, expected))
  }

  test('its instants are apart from its words, so that a reader sees them in another zone', () => {
    assert.deepEqual(explain(RETRIED, CONTEXT).parts, [
      { code: 'last-attempt', template: 'Attempt 6 of about 40 got 204.', instants: {} },
      { code: 'only-200', template: 'Only 200 counts as delivered.', instants: {} },
      {
        code: 'next-attempt',
        template: 'Next attempt in {in nextAttemptAt} ({nextAttemptAt}); retries end {deadlineAt}.',
        instants: { nextAttemptAt: RETRIED.nextAttemptAtMs, deadlineAt: RETRIED.deadlineAtMs },
      },
    ])
    const nextProbeAtMs = NOW + 180_000
    const down = { ...RETRIED, endpoint: { ...ENDPOINT, circuit: 'OPEN', nextProbeAtMs } } as const
    assert.deepEqual(explain(down, CONTEXT).parts.at(-1), {
      code: 'endpoint-down',
      template:
        'Your endpoint is down. Paybell probes it next in {in nextProbeAt} ({nextProbeAt}), then at least every 5 min, and sends this as soon as a probe succeeds; retries end {deadlineAt}.',
      instants: { nextProbeAt: nextProbeAtMs, deadlineAt: RETRIED.deadlineAtMs },
    })
    for (const [name, delivery] of CASES) {
      for (const { template, instants } of explain(delivery, CONTEXT).parts) {
        // Clock times are instants, never words: a console would show two zones on one page.
        assert.doesNotMatch(template, /UTC|\d\d:\d\d|\b(Jan|Nov)\b/, name)
        const named = [...template.matchAll(/\{(?:in )?(\w+)\}/g)].map((match) => match[1])
        assert.deepEqual([...new Set(named)].sort(), Object.keys(instants).sort(), name)
      }
    }
  })

  test('with a patience that never ends, an update is said to wait and not until when', () => {
    const delivery = { ...FRESH, elder: { sequence: 2, firstFailedAtMs: at('13:20:10.000') } }
    assert.equal(
      explain(delivery, { ...CONTEXT, patienceMs: Number.POSITIVE_INFINITY }).text,
      'Waiting for update 2 of the same payment, which has failed since 13:20:10 UTC.',
    )
  })

  test('the operator reads of the endpoint, not of his', () => {
    for (const [name, delivery] of CASES) {
      const { text } = explain(delivery, { ...CONTEXT, reader: 'operator' })
      assert.doesNotMatch(text, /\byour\b/i, name)
    }
  })

  test('only the operator learns whether a name is unknown or private', () => {
    const explained = (outcome: string) =>
      explain(failed(outcome), { ...CONTEXT, reader: 'operator' }).text
    assert.match(
      explained('dns-error'),
      /failed: no public address\. The host name has no address\./,
    )
    assert.match(
      explained('blocked-address'),
      /failed: no public address\. The host name leads to an address that/,
    )
  })

  test('a faster clock has the same number of attempts and shorter waits', () => {
    const timeScale = 10_000
    const retry = retryPolicy(timeScale)
    assert.equal(attemptsInRun(retry), attemptsInRun(retryPolicy()))
    const { text } = explain(
      {
        ...RETRIED,
        lastAttempt: { atMs: NOW - 100, durationMs: 84, outcome: 'answered', status: 503 },
        runAttempts: 20,
        attempts: 20,
        nextAttemptAtMs: NOW + 2_100,
        deadlineAtMs: NOW + 30_000,
      },
      { ...CONTEXT, retry, circuit: circuitPolicy(timeScale) },
    )
    assert.equal(
      text,
      'Attempt 20 of about 40 got 503. Next attempt in 2 s (14:00:42 UTC); retries end 14:01:10 UTC.',
    )
  })

  test('every state has an explanation for whatever is known of it', () => {
    for (const state of ['PENDING', ...FINAL_STATES] as const) {
      for (const [, delivery] of CASES) {
        const { text } = explain({ ...delivery, state }, CONTEXT)
        assert.match(text, /^[A-Z].+\.$/)
        assert.doesNotMatch(text, /undefined|null|NaN|Infinity|Invalid|[{}]/)
      }
    }
  })
})

test('a run has about 40 attempts, by the policy itself', () => {
  assert.equal(attemptsInRun(retryPolicy()), 41)
})
