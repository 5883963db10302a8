// No request holds the loop for long: the worst that each route permits, by a client in another thread, against the
// longest hold of this one. The routes come from the service itself: every one there is.

import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { Caller } from '../../test/support/caller.ts'
import { FarClient, type FarRequest } from '../../test/support/far-client.ts'
import { isTooLong, longestHoldMs } from '../../test/support/longest-hold.ts'
import { startPaybell } from '../../test/support/paybell.ts'
import { SAMPLE } from '../../test/support/payment-sample.ts'

const LARGE = 14_000_000
const LARGEST = 18_700_000

const t = { after }
const paybell = await startPaybell(t, { env: { PAYBELL_REQUESTS_PER_SECOND: '10000' } })
const client = new FarClient(t)
const caller = new Caller(paybell)
const token = await caller.token()
const webhookId = await caller.addWebhook('https://example.com/hook', 'a key of some length')

// What is recorded here is to be sent nowhere.
await caller.changeWebhook(webhookId, { status: 'PAUSED' })

const figures: [number, string][] = []

async function hold(name: string, request: Omit<FarRequest, 'url'> & { path: string }) {
  let last = { status: -1, text: '' }
  const longestMs = await longestHoldMs(async () => {
    last = await client.ask({ ...request, url: paybell.baseUrl + request.path })
  })
  figures.push([longestMs, `${name}: ${last.status}`])
  assert.ok(!isTooLong(longestMs), `${name}: ${longestMs} ms, ${last.status} ${last.text}`)
  return last
}

after(() => {
  const worst = figures.toSorted(([one], [other]) => other - one).slice(0, 12)
  console.log(worst.map(([ms, name]) => `${ms.toFixed(1)} ms  ${name}`).join('\n'))
})

const asClient = {
  authorization: `Bearer ${token}`,
  accountid: paybell.accountId,
  'content-type': 'application/json',
}
const asOperator = { ...asClient, authorization: `Bearer ${paybell.operatorKey}` }

/** `text` filled up to the length. */
const filled = (before: string, filling: string, after: string, length: number) =>
  before + filling.repeat((length - before.length - after.length) / filling.length) + after

const made = (label: string, bytes: number, count: number) =>
  Array.from({ length: count }, () => `${label},${randomBytes(bytes).toString('base64')}`)

const signed = (more: object = {}) => ({
  'X-Paybell-Hmac': randomBytes(32).toString('hex'),
  'webhook-id': randomUUID(),
  'webhook-timestamp': String(Math.floor(Date.now() / 1_000)),
  'webhook-signature': [...made('v1', 32, 8), ...made('v1a', 64, 8)],
  ...more,
})

const small = JSON.stringify(Array.from({ length: 2_500 }, () => ({ a: 1 })))
const members = `{${Array.from({ length: 9_990 }, (_, n) => `"${n}":${n}`).join(',')}}`
const escaped = filled('["', '\\u20ac/<&>', '"]', 250_000)

/** Bodies that a receiver may have got, which the doctor is to explain. */
const CALLBACKS: Record<string, string> = {
  'small objects': small,
  'many members': members,
  'characters to be escaped': escaped,
  'a large file': filled('{"document":{"base64EncodedFile":"', 'a', '"}}', LARGE),
  'large, of line breaks': '\n'.repeat(LARGE / 8),
}

test('the doctor, whatever it is shown', async () => {
  const path = `/v1/webhooks/${webhookId}/verify`
  for (const [name, callback] of Object.entries(CALLBACKS)) {
    const body = Buffer.from(JSON.stringify({ headers: signed(), body: callback }))
    const { status, text } = await hold(`verify ${name}`, {
      method: 'POST',
      path,
      headers: asClient,
      body,
    })
    assert.equal(status, 200, text)
    const bodyBase64 = Buffer.from(callback).toString('base64')
    const encoded = Buffer.from(JSON.stringify({ headers: signed(), bodyBase64 }))
    await hold(`verify ${name}, base64`, { method: 'POST', path, headers: asClient, body: encoded })
  }
  const headers = Object.fromEntries(
    Array.from({ length: 50 }, (_, n) => [
      `h${n}`,
      Array.from({ length: 20 }, () => 'a b '.repeat(4_000)),
    ]),
  )
  headers['webhook-signature'] = Array.from({ length: 20 }, () => 'v1,a '.repeat(3_000))
  const body = Buffer.from(JSON.stringify({ headers: signed(headers), body: 'a' }))
  await hold('verify long headers', { method: 'POST', path, headers: asClient, body })
})

/** JSON that costs much to read, for the largest of all limits. */
const JSONS: Record<string, string> = {
  'white space': filled('{"headers":{},"body":"a"', ' ', '}', LARGEST),
  'escaped quotes': filled('{"headers":{},"body":"', '\\"', '"}', LARGEST),
  'escaped characters': filled('{"headers":{},"body":"', '\\u20ac', '"}', LARGEST),
  emoji: filled('{"headers":{},"body":"', '😀', '"}', LARGEST / 2),
  'empty strings': filled('[', '""', ']', LARGEST),
  'minus signs': filled('{"amount":{"amount":', '- ', '}}', LARGEST),
  'empty objects': filled('[', '{},', '{}]', LARGEST),
  brackets: '['.repeat(LARGEST),
  'long names': `{${Array.from({ length: 9_990 }, (_, n) => `"${String(n).padStart(1_000, 'é')}":1`).join(',')}}`,
  'one number': filled('{"amount":{"amount":', '1', '}}', LARGEST),
}

test('JSON of 18 MB, whatever it is made of', async () => {
  for (const [name, text] of Object.entries(JSONS)) {
    await hold(`JSON ${name}`, {
      method: 'POST',
      path: `/v1/webhooks/${webhookId}/verify`,
      headers: asClient,
      body: Buffer.from(text),
    })
  }
})

test('payments, alone and in a batch', async () => {
  const { id: _, ...payment } = SAMPLE as Record<string, unknown>
  const file = (text: string) =>
    JSON.stringify({
      ...payment,
      document: { mediaType: 'application/pdf', name: 'a.pdf', base64EncodedFile: text },
    })
  for (const [name, body] of Object.entries({
    'a file of 10 MiB': file(Buffer.alloc(10 * 1_024 * 1_024).toString('base64')),
    'a file with escapes': file('/'.repeat(6_800_000)).replaceAll('/', '\\/'),
    'a file that is none': file('!'.repeat(LARGE)),
    'many members': members,
  })) {
    await hold(`payment ${name}`, {
      method: 'PUT',
      path: `/operator/v1/payments/${randomUUID()}`,
      headers: asOperator,
      body: Buffer.from(body),
    })
  }
  const line = (more: object) => `${JSON.stringify({ accountId: paybell.accountId, ...more })}\n`
  for (const [name, body] of Object.entries({
    'empty lines': '\n'.repeat(1_000_000),
    'lines of one character': '1\n'.repeat(1_000_000),
    'lines of white space': `${' '.repeat(1_000)}\n`.repeat(10_000),
    'lines without a payment': line({}).repeat(5_000),
    'lines of many members': `${members}\n`.repeat(300),
    'one line without an end': '1'.repeat(LARGEST),
    'lines with payments': Array.from({ length: 1_000 }, () =>
      line({ ...payment, id: randomUUID() }),
    ).join(''),
    'a large line': line({ ...payment, id: randomUUID(), reference: 'a'.repeat(LARGE - 1_000) }),
  })) {
    await hold(`batch ${name}`, {
      method: 'POST',
      path: '/operator/v1/payments/batch',
      headers: { ...asOperator, 'content-type': 'application/x-ndjson' },
      body: Buffer.from(body),
    })
  }
})

/** Each other than all before, and as long as the names that are known. */
const names = (count: number, start: string) =>
  Array.from({ length: count }, (_, n) => start + n.toString(36).padStart(3, 'q'))

/** Each fills what Node takes as headers, 16 KiB. */
const QUERIES = [
  names(900, 'headerke')
    .map((name) => `${name}=1`)
    .join('&'),
  'a=1&'.repeat(3_500),
  `q=${'%25'.repeat(4_600)}`,
  `q=${encodeURIComponent('ü%_\\ '.repeat(40))}`,
  `page=${'9'.repeat(14_000)}&size=${'1'.repeat(500)}&limit=${'1'.repeat(500)}`,
  `outcome=${'none,'.repeat(80)}none&state=${'PENDING,'.repeat(1_500)}PENDING`,
  `from=0001-01-01T00:00:00Z&to=9999-12-31T23:59:59Z&after=${'A'.repeat(512)}`,
]
const HEADERS: readonly Record<string, string>[] = [
  { cookie: 'paybell_session=a;'.repeat(700) },
  { authorization: `Bearer ${'a.'.repeat(2_000)}a` },
  { authorization: `Basic ${'YTpi'.repeat(3_000)}` },
  { accept: 'text/html,'.repeat(1_200), 'accept-encoding': 'gzip,'.repeat(200) },
  { 'if-none-match': '"a",'.repeat(3_000), 'x-forwarded-for': '::1,'.repeat(400) },
]
const BODIES = [
  // Names that nearly are known, and names that have to be compared with each of those.
  ...['headerKe', 'xqzwjkvb', 'eventz'].map((start) =>
    JSON.stringify(Object.fromEntries(names(4_000, start).map((name) => [name, 0])))
      .slice(0, 64_000)
      .replace(/,[^,]*$/, '}'),
  ),
  `[${'{"xqzwj":0},'.repeat(5_000)}{}]`,
  `{"outcomes":[${'{"xqzwj":0},'.repeat(5_000)}{}]}`,
  members.slice(0, 60_000).replace(/,[^,]*$/, '}'),
  `${'['.repeat(99)}${']'.repeat(99)}`,
  `{"events":[${Array.from({ length: 9_000 }, () => '"a"').join(',')}],"callbackUrl":"${'a'.repeat(4_000)}"}`,
  filled('{"description":"', '\\u0000', '"}', 60_000),
]

test('the token form, before anyone has shown a secret', async () => {
  for (const start of ['client_i', 'xqzwjkvb', 'scop']) {
    const body = names(680, start)
      .map((name) => `${name}=`)
      .join('&')
    await hold(`form ${start}`, {
      method: 'POST',
      path: '/auth/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: Buffer.from(`grant_type=client_credentials&${body}`.slice(0, 8_192)),
    })
  }
})

for (const { method, url } of paybell.app.routes()) {
  test(`${method} ${url}, with the worst queries, headers and bodies`, async () => {
    const path = url
      .replace(/:id\b/, /webhooks/.test(url) ? webhookId : randomUUID())
      .replaceAll(/:\w+|\*/g, 'x')
    const headers =
      url.startsWith('/operator') || url.startsWith('/sandbox') ? asOperator : asClient
    const name = `${method} ${url}`
    for (const query of QUERIES) await hold(name, { method, path: `${path}?${query}`, headers })
    for (const more of HEADERS) await hold(name, { method, path, headers: { ...headers, ...more } })
    if (method === 'GET' || method === 'HEAD') return
    for (const body of BODIES) await hold(name, { method, path, headers, body: Buffer.from(body) })
  })
}
