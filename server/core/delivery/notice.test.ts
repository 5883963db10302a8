import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DAY_MS } from './backoff.ts'
import { toReasonsText } from './explanation-outcome.ts'
import {
  clientNoticePolicy,
  decideNotices,
  type NoticedEndpoint,
  noticePolicy,
  type Told,
} from './notice.ts'

const HOUR = 3_600_000
const POLICY = noticePolicy()
const START = Date.parse('2026-03-02T09:00:00Z')

const ENDPOINT: NoticedEndpoint = {
  id: '018f6d0e-0000-7000-8000-000000000001',
  kind: 'webhook',
  clientId: '018f6d0e-0000-7000-8000-000000000002',
  accountId: '018f6d0e-0000-7000-8000-000000000003',
  url: 'https://receiver.example.com/hook?token=secret',
  status: 'ACTIVE',
  inactiveSinceMs: null,
  failingSinceMs: START,
  lastSuccessAtMs: null,
  lastError: 'answered 500',
  pending: 3,
}

const NOTHING: Told = {
  sequence: 0,
  failingSinceMs: null,
  failingTold: 0,
  disabledSinceMs: null,
  exhaustedTotal: 0,
  exhaustedUntold: 0,
  exhaustedToldAtMs: null,
}

function kindsOf(endpoint: NoticedEndpoint, told: Told, nowMs: number): readonly string[] {
  return decideNotices(endpoint, told, POLICY, nowMs).notices.map(({ kind }) => kind)
}

describe('notices', () => {
  test('a failing endpoint makes a notice after 1 h, 1 d, 3 d and 6 d, once each', () => {
    let told = NOTHING
    const toldAtHours: number[] = []
    for (let hour = 0; hour < 8 * 24; hour++) {
      const decided = decideNotices(ENDPOINT, told, POLICY, START + hour * HOUR)
      told = decided.told
      for (const { kind } of decided.notices) {
        assert.equal(kind, 'notice.endpoint_failing')
        toldAtHours.push(hour)
      }
    }
    assert.deepEqual(toldAtHours, [1, 24, 72, 144])
    assert.equal(told.sequence, 4)
  })

  test('after days without a look one notice is made, not one for each step', () => {
    const decided = decideNotices(ENDPOINT, NOTHING, POLICY, START + 4 * DAY_MS)
    assert.equal(decided.notices.length, 1)
    assert.equal(decided.told.failingTold, 3)
  })

  test('a success is a recovery only of what a notice has reported, also when it fails again already', () => {
    const healthy = { ...ENDPOINT, failingSinceMs: null }
    const { told } = decideNotices(ENDPOINT, NOTHING, POLICY, START + HOUR)
    assert.deepEqual(kindsOf(healthy, NOTHING, START + HOUR), [])
    assert.deepEqual(kindsOf(healthy, told, START + HOUR), ['notice.endpoint_recovered'])
    const again = { ...ENDPOINT, failingSinceMs: START + 2 * HOUR }
    assert.deepEqual(kindsOf(again, told, START + 2 * HOUR), ['notice.endpoint_recovered'])
    assert.deepEqual(kindsOf(again, told, START + 4 * HOUR), [
      'notice.endpoint_recovered',
      'notice.endpoint_failing',
    ])
  })

  test('what is paused or disabled is not reported as failing', () => {
    const paused = { ...ENDPOINT, status: 'PAUSED' as const, inactiveSinceMs: START }
    assert.deepEqual(kindsOf(paused, NOTHING, START + DAY_MS), [])
    const disabled = { ...ENDPOINT, status: 'DISABLED' as const, inactiveSinceMs: START + DAY_MS }
    const { notices, told } = decideNotices(disabled, NOTHING, POLICY, START + DAY_MS)
    assert.deepEqual(
      notices.map(({ kind }) => kind),
      ['notice.endpoint_disabled'],
    )
    assert.deepEqual(kindsOf(disabled, told, START + 2 * DAY_MS), [])
    const again = { ...disabled, inactiveSinceMs: START + 9 * DAY_MS }
    assert.deepEqual(kindsOf(again, told, START + 9 * DAY_MS), ['notice.endpoint_disabled'])
  })

  test('exhausted deliveries share a notice, at most every 5 minutes, with their number', () => {
    const told = { ...NOTHING, exhaustedTotal: 40, exhaustedUntold: 12 }
    const healthy = { ...ENDPOINT, failingSinceMs: null }
    const first = decideNotices(healthy, told, POLICY, START)
    assert.equal(first.notices.length, 1)
    const body = JSON.parse(first.notices[0]?.text as string)
    assert.equal(body.exhausted, 12)
    assert.equal(body.endpoint.exhaustedTotal, 40)
    assert.deepEqual(kindsOf(healthy, first.told, START + 300_000), [], 'none is counted twice')
    const more = { ...first.told, exhaustedTotal: 41, exhaustedUntold: 1 }
    assert.deepEqual(kindsOf(healthy, more, START + 299_999), [])
    assert.deepEqual(kindsOf(healthy, more, START + 300_000), ['notice.deliveries_exhausted'])
  })

  test('a body says all of the endpoint but the query of its address, and does not end in two braces', () => {
    const [notice] = decideNotices(ENDPOINT, NOTHING, POLICY, START + HOUR).notices
    assert.deepEqual(JSON.parse(notice?.text as string), {
      type: 'notice.endpoint_failing',
      endpoint: {
        id: ENDPOINT.id,
        kind: 'webhook',
        clientId: ENDPOINT.clientId,
        accountId: ENDPOINT.accountId,
        endpointUrl: 'https://receiver.example.com/hook',
        status: 'ACTIVE',
        failingSince: '2026-03-02T09:00:00.000Z',
        lastSuccessAt: null,
        lastError: 'answered 500',
        pending: 3,
        exhaustedTotal: 0,
      },
      at: '2026-03-02T10:00:00.000Z',
    })
    assert.doesNotMatch(notice?.text as string, /\}\}$/)
  })
})

describe('notices to a client', () => {
  const policy = clientNoticePolicy(7 * DAY_MS)
  const kindsAt = (told: Told, nowMs: number, endpoint = ENDPOINT) =>
    decideNotices(endpoint, told, policy, nowMs).notices.map(({ kind }) => kind)

  test('after an hour it is failing, and a day before it is disabled the client is warned', () => {
    assert.deepEqual(kindsAt(NOTHING, START + HOUR - 1), [])
    const { notices, told } = decideNotices(ENDPOINT, NOTHING, policy, START + HOUR)
    assert.deepEqual(
      notices.map(({ kind }) => kind),
      ['endpoint.failing'],
    )
    assert.deepEqual(kindsAt(told, START + 6 * DAY_MS - 1), [])
    assert.deepEqual(kindsAt(told, START + 6 * DAY_MS), ['endpoint.will_be_disabled'])
  })

  test('exhausted deliveries are counted, and told of at most once an hour', () => {
    const told = { ...NOTHING, exhaustedUntold: 3, exhaustedToldAtMs: START }
    const healthy = { ...ENDPOINT, failingSinceMs: null }
    assert.deepEqual(kindsAt(told, START + HOUR - 1, healthy), [])
    assert.deepEqual(kindsAt(told, START + HOUR, healthy), ['deliveries.exhausted'])
  })

  test('it says why in words, and nothing of the network of the operator', () => {
    const reasons = [
      { outcome: 'answered', status: 500, count: 4 },
      { outcome: 'timeout', status: null, count: 8 },
      { outcome: 'dns-error', status: null, count: 1 },
      { outcome: 'blocked-address', status: null, count: 1 },
    ]
    assert.equal(
      toReasonsText(reasons),
      'Attempts in the last hour: 8 timed out; 4 answered 500; 2 no public address.',
    )
    assert.equal(toReasonsText([]), null)
    const endpoint = { ...ENDPOINT, lastError: 'blocked-address', reasons }
    const [notice] = decideNotices(endpoint, NOTHING, policy, START + HOUR).notices
    const body = JSON.parse(notice?.text ?? '')
    assert.equal(body.endpoint.lastError, 'no-address')
    assert.equal(body.endpoint.clientId, undefined)
    assert.equal(body.endpoint.endpointUrl, 'https://receiver.example.com/hook')
    assert.ok(!notice?.text.includes('blocked'))
    assert.ok(!notice?.text.endsWith('}}'))
  })
})
