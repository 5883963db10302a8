// POST …/check against real receivers: one that is right, and twelve that have one fault each.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { CheckReport } from '../../server/core/checking/receiver-check.ts'
import {
  type CheckedReceiver,
  FAULTS,
  type Fault,
  startCheckedReceiver,
} from '../support/checked-receiver.ts'
import type { Owner } from '../support/owner.ts'
import { type Paybell, startPaybell } from '../support/paybell.ts'

const KEY = 'only-we-two-know-this'
let paybell: Paybell
let receiver: CheckedReceiver
/** The ids of the webhooks, by the fault of their receiver. */
const webhooks = new Map<string, string>()

before(async (t) => {
  const owner = t as unknown as Owner
  paybell = await startPaybell(owner)
  receiver = await startCheckedReceiver(owner, KEY)
  for (const fault of ['none', ...FAULTS] as const) {
    webhooks.set(fault, await paybell.caller.addWebhook(receiver.url(fault), KEY))
  }
})

async function check(fault: Fault): Promise<CheckReport> {
  const response = await paybell.caller.postToWebhook(webhooks.get(fault) ?? assert.fail(), 'check')
  assert.equal(response.status, 200)
  return (await response.json()) as CheckReport
}

const steps = (report: CheckReport, result: string) =>
  report.steps.filter((step) => step.result === result).map(({ code }) => code)

test('a receiver written as the documentation says passes every step', async () => {
  const report = await check('none')
  assert.deepEqual(steps(report, 'fail'), [])
  assert.deepEqual(steps(report, 'warning'), [])
  assert.equal(report.passed, true)
  assert.equal(report.counts.pass, 11)
  assert.equal(report.url, receiver.url('none'))
  for (const step of report.steps) {
    assert.deepEqual(Object.keys(step), ['code', 'title', 'result', 'reason', 'mend'])
  }
  assert.ok(receiver.isAllMarked(), 'X-Paybell-Test is on every POST')
  assert.ok(Math.max(...receiver.bodyMs('none')) > 1_200, 'the slow body was slow')
})

const FAILED: Record<(typeof FAULTS)[number], readonly string[]> = {
  'takes-tampered-bodies': ['tampered-body'],
  'takes-wrong-signatures': ['wrong-signature'],
  'takes-missing-signatures': ['missing-signature'],
  'takes-stale-timestamps': ['stale-timestamp'],
  'answers-204': ['valid-signature'],
  'refuses-repeats': ['same-event-twice'],
  'refuses-late-updates': ['late-update'],
  'chokes-on-unknown-fields': ['unknown-fields'],
  'refuses-1-mb': ['large-document'],
  'mangles-unicode': ['unicode'],
  'ignores-slow-bodies': ['slow-body'],
  'refuses-everything': ['valid-signature'],
}

test('each fault fails its own step, with a reason and a remedy', async (t) => {
  const reports: { fault: (typeof FAULTS)[number]; report: CheckReport }[] = []
  // One after the other: a client may run two at once.
  for (const fault of FAULTS) reports.push({ fault, report: await check(fault) })
  for (const { fault, report } of reports) {
    await t.test(fault, () => {
      assert.deepEqual(steps(report, 'fail'), FAILED[fault])
      assert.equal(report.passed, false)
      for (const step of report.steps.filter(({ result }) => result === 'fail')) {
        assert.ok(step.reason.length > 20 && (step.mend ?? '').length > 20)
      }
    })
  }
  const of = (fault: Fault) => reports.find((one) => one.fault === fault)?.report ?? assert.fail()
  const [plain] = of('answers-204').steps
  assert.match(`${plain?.reason} ${plain?.mend}`, /answered 204.*exactly 200/)
  // A receiver that refuses everything has not shown that it checks anything.
  assert.deepEqual(steps(of('refuses-everything'), 'pass'), [])
})

test('one check at a time: a second one at once is a 409', async () => {
  const url = `/v1/webhooks/${webhooks.get('none')}/check`
  const answers = await Promise.all([1, 2].map(() => paybell.caller.call('POST', url)))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409])
  const refused = answers.find(({ status }) => status === 409) ?? assert.fail()
  assert.equal(((await refused.json()) as { code: string }).code, 'check-running')
  assert.equal(refused.headers.get('retry-after'), '60')
})

test('the report as a page, for a subscription; a receiver that is not there is reported at once', async () => {
  const callbackUrl = 'http://127.0.0.1:1/<script>'
  const subscribed = await paybell.caller.subscribe({ callbackUrl, sharedKey: KEY })
  const path = subscribed.headers.get('location') ?? ''
  const headers = { ...(await paybell.caller.headers()), accept: 'text/html,application/xhtml+xml' }
  const response = await fetch(`${paybell.baseUrl}${path}/check`, { method: 'POST', headers })
  assert.equal(response.status, 200)
  assert.match(response.headers.get('content-type') ?? '', /^text\/html/)
  assert.match(response.headers.get('content-security-policy') ?? '', /default-src 'none'/)
  const page = await response.text()
  assert.match(page, /The receiver failed/)
  assert.match(page, /gave no answer: could not connect/)
  assert.match(page, /Not run/)
  assert.ok(!page.includes('<script'))
  const unknown = await paybell.caller.call('POST', '/v1/webhooks/nobody/check')
  assert.equal(unknown.status, 404)
})
