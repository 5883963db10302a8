// What the interface says to those who get it wrong: what is wrong, why, and what to do (api.txt).

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
import { assertKept, assertPlain, type Told } from './kept-words.ts'

interface Wrong {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  url: string
  headers?: Record<string, string>
  payload?: object | string
}

const HOOK = { callbackUrl: 'https://example.com/hook', sharedKey: 'a-shared-key-of-some-length' }
const OPERATOR = { authorization: `Bearer ${OPERATOR_KEY}` }
const JSON_TYPE = { 'content-type': 'application/json' }

test('each wrong request is told what is wrong and what to do', async (t) => {
  const { pool } = await cloneDatabase()
  const server = await serveHttp(t, pool)
  const client = await onboard(server)
  const { headers, bearer } = client
  const paying = { ...OPERATOR, accountid: client.accountId }
  const payment = `/operator/v1/payments/${randomUUID()}`
  const { id: _, ...body } = SAMPLE
  const register = { method: 'POST', url: '/v1/webhooks/register' } as const
  const wrong: Record<string, Wrong> = {
    'no token': { url: '/v1/webhooks' },
    'not a token': { url: '/v1/webhooks', headers: { authorization: 'Bearer nonsense' } },
    'an altered token': {
      url: '/v1/webhooks',
      headers: { authorization: `${bearer.authorization.slice(0, -4)}AAAA` },
    },
    'an operator key for a client': { url: '/v1/webhooks', headers: OPERATOR },
    'a client token for an operator': { url: '/operator/v1/clients', headers: bearer },
    'a wrong client secret': {
      method: 'POST',
      url: '/auth/token',
      payload: { clientId: client.clientId, clientSecret: 'wrong' },
    },
    'another grant': {
      method: 'POST',
      url: '/auth/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: 'grant_type=password&client_id=a&client_secret=b',
    },
    'no account': { ...register, headers: bearer, payload: HOOK },
    'an account of nobody': {
      ...register,
      headers: { ...bearer, accountid: randomUUID() },
      payload: HOOK,
    },
    'no address': { ...register, headers, payload: { sharedKey: HOOK.sharedKey } },
    'an address that is none': { ...register, headers, payload: { ...HOOK, callbackUrl: 'hook' } },
    'a private address': {
      ...register,
      headers,
      payload: { ...HOOK, callbackUrl: 'https://10.0.0.1/hook' },
    },
    'a misspelt member': { ...register, headers, payload: { ...HOOK, event: ['payment.paid'] } },
    'a kind of event that is none': {
      ...register,
      headers,
      payload: { ...HOOK, events: ['paid'] },
    },
    'a header twice': {
      ...register,
      headers,
      payload: { ...HOOK, headerKey: 'X-Key', headerValue: 'a', hmacHeaderName: 'x-key' },
    },
    'JSON with a comma too many': {
      ...register,
      headers: { ...headers, ...JSON_TYPE },
      payload: '{"callbackUrl": "https://example.com/hook",}',
    },
    'JSON of several lines': {
      ...register,
      headers: { ...headers, ...JSON_TYPE },
      payload: '{\n  "callbackUrl": "https://example.com/hook"\n  "sharedKey": "x"\n}',
    },
    'JSON cut short': {
      ...register,
      headers: { ...headers, ...JSON_TYPE },
      payload: '{"callbackUrl": "https://exam',
    },
    'no JSON at all': {
      ...register,
      headers: { ...headers, 'content-type': 'text/plain' },
      payload: 'hello',
    },
    'a list for an object': { ...register, headers, payload: [] },
    'an unknown id': { url: `/v1/webhooks/${randomUUID()}`, headers },
    'no id': { url: '/v1/webhooks/1', headers },
    'a limit below 1': { url: '/v1/deliveries?limit=-1', headers },
    'a limit in words': { url: '/v1/deliveries?limit=ten', headers },
    'a state that is none': { url: '/v1/deliveries?state=LOST', headers },
    'a misspelt parameter': { url: '/v1/deliveries?states=PENDING', headers },
    'a cursor of another list': { url: '/v1/deliveries?after=abc', headers },
    'an instant that is none': { url: '/v1/deliveries?from=yesterday', headers },
    'another method': { method: 'PUT', url: '/v1/webhooks', headers },
    'an address of nothing': { url: '/v1/webhook', headers },
    'a payment of no known state': {
      method: 'PUT',
      url: payment,
      headers: paying,
      payload: { ...body, status: { state: 'SETTLED' } },
    },
    'a payment for no known purpose': {
      method: 'PUT',
      url: payment,
      headers: paying,
      payload: { ...body, purposeOfPayment: 'FUN' },
    },
    'a payment without its parts': { method: 'PUT', url: payment, headers: paying, payload: {} },
    'an amount as text': {
      method: 'PUT',
      url: payment,
      headers: paying,
      payload: { ...body, amount: { amount: '12.50', currency: 'EUR' } },
    },
    'a replay of nothing': {
      method: 'POST',
      url: `/operator/v1/deliveries/${randomUUID()}/replay`,
      headers: OPERATOR,
    },
  }
  const told: Told[] = []
  for (const [what, request] of Object.entries(wrong)) told.push([what, await ask(server, request)])
  server.clock.advance(24 * 3_600)
  told.push(['a token of yesterday', await ask(server, { url: '/v1/webhooks', headers })])
  for (const one of told) assertPlain(one)
  assertKept('api.txt', told)
})

async function ask(server: TestServer, request: Wrong): Promise<string> {
  const answer = await server.app.inject(request)
  const { status, code, title, detail, errors = [] }: ProblemBody = answer.json()
  const lines = errors.map((error) => `${error.pointer} ${error.code}: ${error.detail}`)
  return [`${status} ${code}: ${title}.`, detail, ...lines].join('\n')
}
