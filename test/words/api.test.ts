// What the interface says to those who get it wrong: which problem it is, at which field, and what they need to put it
// right, in words that they know.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { cloneDatabase } from '../support/database.ts'
import {
  OPERATOR_KEY,
  onboard,
  type ProblemBody,
  serveHttp,
  type TestServer,
} from '../support/injected-server.ts'
import { SAMPLE } from '../support/payment-sample.ts'
import { assertPlain } from './plain-words.ts'

interface Request {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  url: string
  headers?: Record<string, string>
  payload?: object | string
}

interface Wrong extends Request {
  /** Status and code; with fields, where each fault is, and its code. */
  is: string
  /** What the answer has to name. */
  says: string
}

const HOOK = { callbackUrl: 'https://example.com/hook', sharedKey: 'a-shared-key-of-some-length' }
const OPERATOR = { authorization: `Bearer ${OPERATOR_KEY}` }

test('each wrong request is told what is wrong and what to do', async (t) => {
  const { pool } = await cloneDatabase()
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const { headers, bearer } = client
  const paying = { ...OPERATOR, accountid: client.accountId }
  const payment = `/operator/v1/payments/${randomUUID()}`
  const { id: _, ...body } = SAMPLE
  const register = { method: 'POST', url: '/v1/webhooks/register' } as const
  const registering = (payload: object | string, type = 'application/json'): Request => ({
    ...register,
    headers: { ...headers, 'content-type': type },
    payload,
  })
  const putting = (payload: object): Request => ({
    method: 'PUT',
    url: payment,
    headers: paying,
    payload,
  })
  const wrong: Record<string, Wrong> = {
    'no token': {
      is: '401 missing-token',
      says: 'Authorization: Bearer <token>',
      url: '/v1/webhooks',
    },
    'not a token': {
      is: '401 invalid-token',
      says: 'POST /auth/token',
      url: '/v1/webhooks',
      headers: { authorization: 'Bearer nonsense' },
    },
    'an altered token': {
      is: '401 invalid-token',
      says: 'refused',
      url: '/v1/webhooks',
      headers: { authorization: `${bearer.authorization.slice(0, -4)}AAAA` },
    },
    'an operator key for a client': {
      is: '401 invalid-token',
      says: 'Operator keys work under /operator/v1 only',
      url: '/v1/webhooks',
      headers: OPERATOR,
    },
    'a client token for an operator': {
      is: '401 invalid-token',
      says: 'need an operator key',
      url: '/operator/v1/clients',
      headers: bearer,
    },
    'a wrong client secret': {
      is: '401 invalid-credentials',
      says: 'clientSecret',
      method: 'POST',
      url: '/auth/token',
      payload: { clientId: client.clientId, clientSecret: 'wrong' },
    },
    'another grant': {
      is: '400 unsupported-grant-type',
      says: 'client_credentials',
      method: 'POST',
      url: '/auth/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: 'grant_type=password&client_id=a&client_secret=b',
    },
    'no account': {
      is: '403 invalid-account',
      says: 'AccountId',
      ...register,
      headers: bearer,
      payload: HOOK,
    },
    'an account of nobody': {
      is: '403 invalid-account',
      says: 'AccountId',
      ...register,
      headers: { ...bearer, accountid: randomUUID() },
      payload: HOOK,
    },
    'no address': {
      is: '400 invalid-fields /callbackUrl missing',
      says: 'required',
      ...registering({ sharedKey: HOOK.sharedKey }),
    },
    'an address that is none': {
      is: '400 invalid-fields /callbackUrl malformed-url',
      says: 'https://',
      ...registering({ ...HOOK, callbackUrl: 'hook' }),
    },
    'a private address': {
      is: '400 invalid-fields /callbackUrl non-public-address',
      says: 'Use a public address',
      ...registering({ ...HOOK, callbackUrl: 'https://10.0.0.1/hook' }),
    },
    'a misspelt member': {
      is: '400 invalid-fields /event misspelt',
      says: 'events?',
      ...registering({ ...HOOK, event: ['payment.paid'] }),
    },
    'a kind of event that is none': {
      is: '400 invalid-fields /events/0 not-in-list',
      says: 'payment.paid',
      ...registering({ ...HOOK, events: ['paid'] }),
    },
    'a header twice': {
      is: '400 invalid-fields /hmacHeaderName invalid-header-name',
      says: '"X-"',
      ...registering({ ...HOOK, headerKey: 'X-Key', headerValue: 'a', hmacHeaderName: 'x-key' }),
    },
    'JSON with a comma too many': {
      is: '400 malformed-json',
      says: 'at character 44',
      ...registering('{"callbackUrl": "https://example.com/hook",}'),
    },
    'JSON of several lines': {
      is: '400 malformed-json',
      says: 'at line 3, character 3',
      ...registering('{\n  "callbackUrl": "https://example.com/hook"\n  "sharedKey": "x"\n}'),
    },
    'JSON cut short': {
      is: '400 malformed-json',
      says: 'ends too early',
      ...registering('{"callbackUrl": "https://exam'),
    },
    'no JSON at all': {
      is: '415 unsupported-media-type',
      says: 'application/json',
      ...registering('hello', 'text/plain'),
    },
    'a list for an object': {
      is: '400 invalid-fields / wrong-type',
      says: 'object',
      ...registering([]),
    },
    'an unknown id': {
      is: '404 not-found',
      says: 'under this id',
      url: `/v1/webhooks/${randomUUID()}`,
      headers,
    },
    'no id': { is: '404 not-found', says: 'under this id', url: '/v1/webhooks/1', headers },
    'a limit below 1': {
      is: '400 invalid-query /limit too-small',
      says: '1 or more',
      url: '/v1/deliveries?limit=-1',
      headers,
    },
    'a limit in words': {
      is: '400 invalid-query /limit wrong-type',
      says: 'whole number',
      url: '/v1/deliveries?limit=ten',
      headers,
    },
    'a state that is none': {
      is: '400 invalid-query /state not-in-list',
      says: 'PENDING',
      url: '/v1/deliveries?state=LOST',
      headers,
    },
    'a misspelt parameter': {
      is: '400 invalid-query /states misspelt',
      says: 'state?',
      url: '/v1/deliveries?states=PENDING',
      headers,
    },
    'a cursor of another list': {
      is: '400 invalid-query /after invalid-cursor',
      says: 'next',
      url: '/v1/deliveries?after=abc',
      headers,
    },
    'an instant that is none': {
      is: '400 invalid-query /from not-a-date-time',
      says: 'T09:30:00Z',
      url: '/v1/deliveries?from=yesterday',
      headers,
    },
    'another method': {
      is: '405 method-not-allowed',
      says: 'GET',
      method: 'PUT',
      url: '/v1/webhooks',
      headers,
    },
    'an address of nothing': { is: '404 not-found', says: '/docs', url: '/v1/webhook', headers },
    'a payment of no known state': {
      is: '400 invalid-fields /status/state not-in-list',
      says: 'PAID',
      ...putting({ ...body, status: { state: 'SETTLED' } }),
    },
    'a payment for no known purpose': {
      is: '400 invalid-fields /purposeOfPayment not-in-list',
      says: 'SALARY_PAYMENT',
      ...putting({ ...body, purposeOfPayment: 'FUN' }),
    },
    'a payment without its parts': {
      is: '400 invalid-fields /externalId missing, /quoteId missing, /amount missing, /reference missing, /purposeOfPayment missing, /beneficiaryId missing',
      says: 'required',
      ...putting({}),
    },
    'an amount as text': {
      is: '400 invalid-fields /amount/amount wrong-type',
      says: 'a JSON number',
      ...putting({ ...body, amount: { amount: '12.50', currency: 'EUR' } }),
    },
    'a replay of nothing': {
      is: '404 not-found',
      says: 'under this id',
      method: 'POST',
      url: `/operator/v1/deliveries/${randomUUID()}/replay`,
      headers: OPERATOR,
    },
  }
  for (const [what, request] of Object.entries(wrong)) await assertTold(server, what, request)
  server.clock.advance(24 * 3_600)
  const yesterday = {
    is: '401 invalid-token',
    says: 'expired at 2026-',
    url: '/v1/webhooks',
    headers,
  }
  await assertTold(server, 'a token of yesterday', yesterday)
})

async function assertTold(server: TestServer, what: string, wrong: Wrong): Promise<void> {
  const { is, says, ...request } = wrong
  const answer = await server.app.inject(request)
  const { status, code, title, detail, errors = [] }: ProblemBody = answer.json()
  const faults = errors.map((error) => `${error.pointer || '/'} ${error.code}`).join(', ')
  assert.equal(`${status} ${code} ${faults}`.trim(), is, what)
  const sentences = [detail ?? '', ...errors.map((error) => error.detail)]
  for (const sentence of sentences) assert.match(sentence, /^\S.*[.?]$/, what)
  assertPlain(what, [title, ...sentences].join('\n'))
  assert.ok(sentences.join('\n').includes(says), `${what}: ${sentences.join('\n')}`)
}
