import assert from 'node:assert/strict'
import { createHmac, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Outcome } from '../delivery/delivery.ts'
import { toSigningKey } from '../signatures/signature.ts'
import { type Answered, judge, notRun, toReport } from './receiver-check.ts'
import { CHECK_ITEMS, type CheckItem } from './receiver-check-items.ts'
import type { CheckMaterial, CheckPost } from './receiver-check-posts.ts'
import { renderReport } from './receiver-report.ts'

const KEY = 'only-we-two-know-this'
const NOW_MS = Date.parse('2026-11-15T09:30:00Z')
const MATERIAL: CheckMaterial = {
  keys: { current: toSigningKey(KEY), previous: null },
  strangeKey: toSigningKey('somebody else'),
  extraHeader: ['Authorization', 'Basic eA=='],
  nowMs: NOW_MS,
  newId: randomUUID,
}

function item(code: string): CheckItem {
  return CHECK_ITEMS.find((one) => one.code === code) ?? assert.fail(code)
}

function headersOf({ headers }: CheckPost): Map<string, string> {
  const found = new Map<string, string>()
  for (let at = 0; at < headers.length; at += 2) {
    found.set((headers[at] as string).toLowerCase(), headers[at + 1] as string)
  }
  return found
}

function isSigned(post: CheckPost): boolean {
  const right = createHmac('sha256', KEY).update(Buffer.concat(post.body)).digest('hex')
  return headersOf(post).get('x-paybell-hmac') === right
}

const SIGNED_WRONG = ['tampered-body', 'wrong-signature', 'missing-signature']

for (const { code, posts, expects } of CHECK_ITEMS) {
  test(`${code}: its posts are JSON, marked as a test, and signed as the step says`, () => {
    for (const post of posts(MATERIAL)) {
      const headers = headersOf(post)
      assert.equal(headers.get('x-paybell-test'), 'true')
      assert.equal(headers.get('authorization'), 'Basic eA==')
      assert.equal(typeof JSON.parse(Buffer.concat(post.body).toString()).id, 'string')
      assert.equal(isSigned(post), !SIGNED_WRONG.includes(code))
    }
    assert.ok(expects === '200' || !posts(MATERIAL).some((post) => post.pauseMs > 0))
  })
}

test('what the steps are about is in their posts', () => {
  const [stale] = item('stale-timestamp').posts(MATERIAL)
  assert.equal(
    headersOf(stale as CheckPost).get('webhook-timestamp'),
    String(NOW_MS / 1_000 - 3_600),
  )
  const [one, two] = item('same-event-twice').posts(MATERIAL).map(headersOf)
  assert.equal(one?.get('webhook-id'), two?.get('webhook-id'))
  const late = item('late-update').posts(MATERIAL)
  assert.deepEqual(
    late.map((post) => headersOf(post).get('x-paybell-sequence')),
    ['2', '1'],
  )
  const [large] = item('large-document').posts(MATERIAL)
  assert.ok(Buffer.concat((large as CheckPost).body).length > 1_398_000)
  const [slow] = item('slow-body').posts(MATERIAL)
  assert.ok((slow as CheckPost).pauseMs > 0 && (slow as CheckPost).body.length === 5)
  const [bare] = item('missing-signature').posts(MATERIAL)
  assert.ok(!headersOf(bare as CheckPost).has('webhook-signature'))
})

const answered = (status: number, durationMs = 10): Answered => ({
  outcome: { kind: 'answered', status },
  durationMs,
})
const silent = (reason: 'timeout' | 'connection-reset' | 'tls-too-costly'): Answered => ({
  outcome: { kind: 'unreachable', reason } as Outcome,
  durationMs: 10,
})

const tokenless = (reason: 'token-refused' | 'token-unreachable', detail: string): Answered => ({
  outcome: { kind: 'tokenless', reason, detail },
  durationMs: 10,
})

const JUDGEMENTS: [string, Answered[], string, RegExp][] = [
  ['valid-signature', [answered(200)], 'pass', /200/],
  ['valid-signature', [answered(200, 6_000)], 'warning', /6\.0 seconds/],
  ['valid-signature', [answered(204)], 'fail', /exactly 200/],
  ['valid-signature', [answered(302)], 'fail', /redirects/],
  ['valid-signature', [silent('timeout')], 'fail', /timed out.*afterwards/],
  ['valid-signature', [silent('tls-too-costly')], 'fail', /TLS handshake too costly.*usual keys/],
  [
    'valid-signature',
    [tokenless('token-refused', 'The token endpoint answered 401 invalid_client.')],
    'fail',
    /token refused\. The token endpoint answered 401 invalid_client\. .*Check clientId/,
  ],
  [
    'valid-signature',
    [tokenless('token-unreachable', 'The token endpoint did not answer: tls-name.')],
    'fail',
    /token endpoint not reached\. The token endpoint did not answer: tls-name\. .*Check tokenUrl/,
  ],
  ['same-event-twice', [answered(500)], 'fail', /first time.*500/],
  ['same-event-twice', [answered(200), answered(409)], 'fail', /second time.*409/],
  ['unicode', [answered(401)], 'fail', /401/],
  ['tampered-body', [answered(200)], 'fail', /amount/],
  ['tampered-body', [answered(401)], 'pass', /401/],
  ['tampered-body', [answered(500)], 'warning', /not plainly/],
  ['tampered-body', [answered(202)], 'warning', /202/],
  ['tampered-body', [silent('connection-reset')], 'warning', /closed/],
]

for (const [code, answers, result, words] of JUDGEMENTS) {
  const said = answers.map(({ outcome }) => JSON.stringify(outcome)).join()
  test(`${code} answered with ${said} is a ${result}`, () => {
    const step = judge(item(code), answers, item(code).posts(MATERIAL).length)
    assert.equal(step.result, result)
    assert.match(`${step.reason} ${step.mend}`, words)
  })
}

test('the page escapes whatever came from outside', () => {
  const evil = `https://x.test/"><img src=x onerror=alert(1)>'&`
  const step = { ...notRun(item('unicode'), '<b>'), mend: '<i>', title: '<u>', code: '<s>' }
  const page = renderReport(toReport({ url: evil, startedAtMs: NOW_MS, durationMs: 1 }, [step]))
  assert.ok(!/<(img|b|i|u|s)>/.test(page) && !page.includes('<img'))
  assert.ok(page.includes('&lt;img') && page.includes('&quot;') && page.includes('&#39;'))
})
