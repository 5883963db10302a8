// The console's own rules about deliveries, without a browser: filters, runs on the backoff curve, the
// command to paste, what can be said about a signature, and files instead of base64.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  readFilter,
  toApiFilter,
  toAskedFilter,
  toggleState,
  toQuery,
} from '../../console/src/pages/deliveries/filter.ts'
import {
  describeEarlier,
  groupUpdates,
  type Listed,
} from '../../console/src/pages/deliveries/updates.ts'
import { documentOf, fileOf } from '../../console/src/pages/delivery/body.ts'
import { compareBody, compareSignature } from '../../console/src/pages/delivery/compare.ts'
import { quote, toCurl } from '../../console/src/pages/delivery/curl.ts'
import { describeAnswer, SEQUELS } from '../../console/src/pages/delivery/detail.ts'
import { readHeaders } from '../../console/src/pages/delivery/headers.ts'
import {
  axisTicks,
  paceOf,
  planRun,
  timeScale,
  toRuns,
  waitScale,
} from '../../console/src/pages/delivery/runs.ts'
import { parseDeliveryFilter } from '../../server/core/asking/delivery-filter.ts'
import { retryPolicy } from '../../server/core/delivery/backoff.ts'
import { callbackBodyParts } from '../../server/core/delivery/callback.ts'
import { attemptsInRun } from '../../server/core/delivery/explanation.ts'

const NOW = Date.parse('2026-11-15T07:00:00Z')
const POLICY = retryPolicy()

test('regression: what is counted and then confirmed ends at the moment of asking', () => {
  const asked = (query: string) =>
    toAskedFilter(readFilter(new URLSearchParams(query), 'operator'), NOW)
  const now = new Date(NOW).toISOString()
  assert.deepEqual(asked(''), { to: now })
  assert.deepEqual(asked('last=1h'), { from: '2026-11-15T06:00:00.000Z', to: now })
  const given = { from: '2026-11-14T06:00:00.000Z', to: '2026-11-14T08:00:00.000Z' }
  assert.deepEqual(asked(`from=${given.from}&to=${given.to}`), given)
  // The service refuses an end before the beginning.
  const later = { from: '2026-11-15T08:00:00.000Z' }
  assert.deepEqual(asked(`from=${later.from}`), later)
})

test('updates of one payment at one endpoint are folded where they follow each other', () => {
  const row = (
    id: string,
    paymentId: string,
    state: Listed['state'] = 'DELIVERED',
    endpointId = 'e',
  ) => ({ id, paymentId, endpointId, state }) as const
  const groups = groupUpdates([
    row('4', 'p'),
    row('3', 'p', 'EXHAUSTED'),
    row('2', 'p'),
    row('9', 'q'),
    row('1', 'p'),
    row('0', 'p', 'DELIVERED', 'other'),
  ])
  assert.deepEqual(
    groups.map(({ newest, earlier }) => [newest.id, ...earlier.map(({ id }) => id)]),
    [['4', '3', '2'], ['9'], ['1'], ['0']],
  )
  assert.deepEqual(groupUpdates([]), [])
  // What is worse than the newest is not hidden by it.
  const [first] = groups
  assert.ok(first)
  assert.equal(describeEarlier(first), '2 earlier: 1 EXHAUSTED')
})

test('a filter survives the way through the address, and the service takes it', () => {
  const id = '019cade1-0a11-7c1e-9d0b-3f6a1c2b4d5e'
  const query = new URLSearchParams(
    `state=PENDING,EXHAUSTED&event=payment.paid&endpointId=${id}&last=24h&q=DEMO-1&junk=1`,
  )
  const filter = readFilter(query, 'operator')
  assert.deepEqual(readFilter(new URLSearchParams(toQuery(filter)), 'operator'), filter)
  const asked = toApiFilter(filter, NOW)
  assert.deepEqual(parseDeliveryFilter(asked), {
    clientId: null,
    accountId: null,
    endpointId: id,
    paymentId: null,
    eventId: null,
    jobId: null,
    externalId: null,
    outcomes: null,
    states: ['PENDING', 'EXHAUSTED'],
    kind: 'payment.paid',
    fromMs: NOW - 86_400_000,
    toMs: null,
    search: 'DEMO-1',
  })
})

test('a client’s filter has only what the client API knows', () => {
  const query = new URLSearchParams('state=PENDING&event=payment.paid&clientId=x&q=y&last=1h')
  assert.deepEqual(Object.keys(toApiFilter(readFilter(query, 'client'), NOW)), ['state', 'from'])
})

test('states are switched on and off; all of them is no filter', () => {
  let filter = readFilter(new URLSearchParams(), 'operator')
  for (const state of ['EXHAUSTED', 'PENDING', 'DELIVERED', 'SUPERSEDED']) {
    filter = toggleState(filter, state)
  }
  assert.equal(filter.state, 'PENDING,DELIVERED,EXHAUSTED,SUPERSEDED')
  assert.equal(toggleState(filter, 'CANCELLED').state, '')
  assert.equal(toggleState(filter, 'PENDING').state, 'DELIVERED,EXHAUSTED,SUPERSEDED')
})

function attempts(...made: [atMs: number, status: number][]) {
  return made.map(([atMs, status], index) => ({
    attempt: index + 1,
    at: new Date(NOW + atMs).toISOString(),
    durationMs: 10,
    status,
    error: null,
  }))
}

const DAY = 86_400_000

test('a run ends with a 200, and what follows is a replay', () => {
  const log = attempts([0, 500], [5_000, 200], [60_000, 500])
  const deadline = new Date(NOW + 60_000 + POLICY.runMs).toISOString()
  const runs = toRuns(log, deadline, POLICY)
  assert.deepEqual(
    runs.map((run) => run.attempts.map(({ attempt }) => attempt)),
    [[1, 2], [3]],
  )
  assert.equal(runs[1]?.startMs, NOW + 60_000)
  assert.equal(runs[1]?.deadlineMs, NOW + 60_000 + POLICY.runMs)
  assert.equal(runs[0]?.deadlineMs, NOW + POLICY.runMs)
})

test('a run that was cancelled and replayed is told apart by its deadline', () => {
  const log = attempts([0, 500], [5_000, 500], [20_000, 500])
  const deadline = new Date(NOW + 20_000 + POLICY.runMs).toISOString()
  assert.deepEqual(
    toRuns(log, deadline, POLICY).map((run) => run.attempts.length),
    [2, 1],
  )
})

test('a pause moves the deadline and keeps the run whole', () => {
  const log = attempts([0, 500], [5_000, 500], [2 * DAY + 700, 500])
  const deadline = new Date(NOW + POLICY.runMs + 2 * DAY).toISOString()
  const [run, ...others] = toRuns(log, deadline, POLICY)
  assert.equal(others.length, 0)
  assert.equal(run?.attempts.length, 3)
  assert.equal(run?.deadlineMs, NOW + POLICY.runMs + 2 * DAY)
})

test('a run keeps the pace that it began with, whatever the sandbox’s clock does since', () => {
  const lasting = (days: number) => ({ startMs: NOW, deadlineMs: NOW + days * DAY })
  assert.equal(paceOf(lasting(7), 1), 1)
  assert.equal(paceOf(lasting(9), 1), 1)
  assert.equal(paceOf(lasting(30), 1), 1)
  assert.equal(paceOf(lasting(7), 10_000), 1)
  assert.equal(paceOf(lasting(0.007), 1_000), 1_000)
  assert.equal(paceOf(lasting(0.007), 10_000), 1_000)
})

test('the plan is the service’s own: as many attempts, doubling to the cap, the last inside the 7 days', () => {
  for (const scale of [1, 1_000, 20_000]) {
    const policy = retryPolicy(scale)
    const plan = planRun(policy)
    assert.equal(plan.length, attemptsInRun(policy))
    assert.equal(plan[1]?.atMs, policy.baseMs)
    assert.equal(plan[2]?.atMs, 3 * policy.baseMs)
    assert.equal(plan.at(-1)?.atMs, policy.runMs - policy.lastStartMarginMs)
    assert.ok(plan.every(({ waitMs }) => waitMs <= policy.capMs))
    const x = timeScale(policy.baseMs, policy.runMs)
    const y = waitScale(policy)
    assert.equal(x(0), 0)
    assert.equal(x(policy.runMs), 1)
    assert.equal(y(policy.baseMs), 0)
    assert.equal(y(policy.capMs), 1)
    const ticks = axisTicks(x, policy.runMs, 0.1)
    assert.ok(ticks.length >= 3 && ticks.every((ms) => ms < policy.runMs))
  }
})

test('a command carries the exact bytes through any shell', () => {
  assert.equal(quote(`it's $HOME`), `'it'\\''s $HOME'`)
  const request = {
    url: 'https://example.com/hook?a=1&b=2',
    headers: [{ name: 'webhook-id', value: 'x' }],
    bodyUrl: 'http://127.0.0.1/operator/v1/events/x/body',
    credential: 'OPERATOR_KEY',
  }
  assert.equal(
    toCurl({ ...request, body: '{"a":"it\'s"}' }),
    `curl -i 'https://example.com/hook?a=1&b=2' \\\n  -H 'webhook-id: x' \\\n  --data-binary '{"a":"it'\\''s"}'`,
  )
  const piped = toCurl({ ...request, body: null })
  assert.match(piped, /^curl -s '.*body' -H "Authorization: Bearer \$OPERATOR_KEY" \| \\\ncurl -i /)
  assert.match(piped, /--data-binary @-$/)
})

test('a document is a file of about the right size, and comes out as it was', () => {
  for (const file of ['', 'a', 'ab', 'abc', 'x'.repeat(1_000)].map((text) => Buffer.from(text))) {
    if (file.length === 0) continue
    const text = '{"id":"ü","amount":100.00,"document":{"mediaType":"text/plain","name":"a.txt"}}'
    const base64 = Buffer.from(file.toString('base64'))
    const whole = Buffer.concat(callbackBodyParts(text, base64))
    const found = documentOf(text, whole.length)
    assert.deepEqual([found?.name, found?.mediaType], ['a.txt', 'text/plain'])
    // Without the file only its rounded length is known: at most two bytes too many.
    const about = found?.fileBytes ?? 0
    assert.ok(about >= file.length && about <= file.length + 2)
    assert.deepEqual(Buffer.from(fileOf(whole.toString())), file)
  }
  assert.equal(documentOf('{"id":1}', 8), null)
})

test('the comparison names the usual mistakes', () => {
  const sent = new TextEncoder().encode('{"a":1,"b":"ü"}')
  assert.equal(compareBody('{"a":1,"b":"ü"}', sent).ok, true)
  assert.match(compareBody('{"a":1,"b":"ü"}\n', sent).text, /white space/)
  assert.match(compareBody('{ "b": "ü", "a": 1 }', sent).text, /parsed and written again/)
  assert.match(compareBody('{"a":2,"b":"ü"}', sent).text, /from byte 5 on/)

  const hex = 'ab'.repeat(32)
  const headers = [
    { name: 'X-Paybell-Hmac', value: hex },
    { name: 'webhook-signature', value: 'v1,AAAA v1,BBBB' },
    { name: 'X-Paybell-Hmac-Previous', value: 'cd'.repeat(32) },
  ]
  const say = (text: string) => compareSignature(text, headers)
  assert.equal(say(hex).ok, true)
  assert.equal(say(`X-Paybell-Hmac: ${hex}\n`).ok, true)
  assert.equal(say('webhook-signature: v1,AAAA v1,BBBB').ok, true)
  assert.equal(say('v1,BBBB').ok, true)
  assert.match(say('cd'.repeat(32)).text, /before the last rotation/)
  assert.match(say(hex.toUpperCase()).text, /upper case/)
  assert.match(say(Buffer.from(hex, 'hex').toString('base64')).text, /base64/)
  assert.match(say('AAAA').text, /v1,/)
  assert.deepEqual(say('00'.repeat(32)).ok, false)
})

test('regression: a signature is found in the header that its endpoint has a name of its own for', () => {
  const hex = 'ab'.repeat(32)
  const say = (text: string) =>
    compareSignature(text, [{ name: 'X-Shop-Signature', value: hex }], 'X-Shop-Signature')
  assert.deepEqual(say(hex), { ok: true, text: 'That is the X-Shop-Signature that was sent.' })
  assert.match(say(hex.toUpperCase()).text, /X-Shop-Signature is lower-case hex/)
})

test('headers are read as people paste them', () => {
  const pasted = `< X-Paybell-Hmac: abc\nwebhook-id: 1\n  "webhook-timestamp": "17",\nnot a header`
  assert.deepEqual(readHeaders(pasted), {
    'X-Paybell-Hmac': 'abc',
    'webhook-id': '1',
    'webhook-timestamp': '17',
  })
})

test('only what follows an attempt is called a retry', () => {
  const failed = { status: 503, error: null }
  assert.equal(describeAnswer(failed, 'retried'), 'Failed: retried')
  assert.equal(describeAnswer(failed, SEQUELS.PENDING), 'Failed: retry scheduled')
  assert.equal(describeAnswer(failed, SEQUELS.EXHAUSTED), 'Failed: gave up')
  assert.equal(describeAnswer({ status: 204, error: null }, 'retried'), '204 is not 200: retried')
  assert.equal(describeAnswer({ status: 200, error: null }, 'not retried'), 'Accepted')
  assert.equal(describeAnswer({ status: null, error: 'timeout' }, 'gave up'), 'Timed out: gave up')
})

test('v1a that is taken for an HMAC is named', () => {
  const v1a = `${'A'.repeat(86)}==`
  const headers = [{ name: 'webhook-signature', value: `v1,${'B'.repeat(43)}= v1a,${v1a}` }]
  assert.ok(compareSignature(`v1a,${v1a}`, headers).ok)
  for (const text of [v1a, `v1,${v1a}`]) {
    const { ok, text: said } = compareSignature(text, headers)
    assert.ok(!ok)
    assert.match(said, /^That is v1a/)
  }
})
