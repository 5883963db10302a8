import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { cookieFor, sessionCells, setCookieFrom } from './console-cookies.ts'
import { answerHeaders, callerNetwork, requestHeaders, trustedBy } from './forwarded-headers.ts'

function headersOf(
  rawHeaders: readonly string[],
  remoteAddress = '192.0.2.9',
  proxies = '10.0.0.0/8',
) {
  const headers: Record<string, string> = {}
  for (let at = 0; at < rawHeaders.length; at += 2) {
    headers[(rawHeaders[at] as string).toLowerCase()] = rawHeaders[at + 1] as string
  }
  const request = { rawHeaders, headers, socket: { remoteAddress } } as unknown as IncomingMessage
  const passed = requestHeaders(request, 7, trustedBy([proxies]))
  return Array.from({ length: passed.length / 2 }, (_, n) =>
    passed.slice(2 * n, 2 * n + 2).join(': '),
  )
}

test('headers of one connection, and the choice of a cell, stay here; repeated ones stay repeated', () => {
  assert.deepEqual(
    headersOf([
      ...['Host', 'paybell.example.com', 'Connection', 'keep-alive, X-Private', 'X-Private', '1'],
      ...['Transfer-Encoding', 'chunked', 'Expect', '100-continue', 'X-Paybell-Cell', '7'],
      ...['AccountId', 'a', 'AccountId', 'b'],
    ]),
    [
      'host: paybell.example.com',
      'accountid: a',
      'accountid: b',
      'x-forwarded-for: 192.0.2.9',
      'x-forwarded-proto: http',
    ],
  )
})

test('where a request came from is believed of a trusted proxy alone', () => {
  const said = [
    'X-Forwarded-For',
    '198.51.100.1',
    'X-Forwarded-Proto',
    'https',
    'Forwarded',
    'for=x',
  ]
  assert.deepEqual(headersOf(said), ['x-forwarded-for: 192.0.2.9', 'x-forwarded-proto: http'])
  assert.deepEqual(headersOf(said, '::ffff:10.1.2.3'), [
    'x-forwarded-proto: https',
    'forwarded: for=x',
    'x-forwarded-for: 198.51.100.1, 10.1.2.3',
  ])
})

test('each cell gets its own session under the usual name, and gives it back under one of its own', () => {
  const cookie = 'a=1; paybell_session_0=zero; paybell_session_7=seven; paybell_session=planted'
  assert.deepEqual(sessionCells(cookie), [0, 7])
  assert.equal(cookieFor(7, cookie), 'a=1; paybell_session=seven')
  assert.equal(cookieFor(3, cookie), 'a=1')
  assert.equal(setCookieFrom(7, 'paybell_session=x; Path=/'), 'paybell_session_7=x; Path=/')
  const secure = '__Host-paybell_session_7=seven; paybell_session_7=planted; paybell_session_9=x'
  assert.deepEqual(sessionCells(secure), [7])
  assert.equal(cookieFor(7, secure), '__Host-paybell_session=seven; paybell_session=planted')
  assert.equal(setCookieFrom(7, '__Host-paybell_session=x'), '__Host-paybell_session_7=x')
  assert.deepEqual(answerHeaders({ 'set-cookie': 'b=1', connection: 'close', etag: 'x' }, 7), {
    'set-cookie': ['b=1'],
    etag: 'x',
  })
})

test('a caller is known by its address, or by the one that trusted proxies name; of IPv6 by its network', () => {
  const isTrusted = trustedBy(['10.0.0.0/8', 'fd00::/8'])
  for (const [peer, forwarded, expected] of [
    ['192.0.2.9', undefined, '192.0.2.9'],
    ['::ffff:192.0.2.9', undefined, '192.0.2.9'],
    ['192.0.2.9', '198.51.100.1', '192.0.2.9'],
    ['10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['10.0.0.1', '203.0.113.5, 198.51.100.1, 10.0.0.2', '198.51.100.1'],
    ['10.0.0.1', '203.0.113.5, made up', '203.0.113.5'],
    ['10.0.0.1', undefined, '10.0.0.1'],
    ['fd00::1', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8::1', undefined, '2001:db8:0:0'],
    ['::1', undefined, ':0:0:0'],
  ] as const) {
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
    const request = { headers, socket: { remoteAddress: peer } } as unknown as IncomingMessage
    assert.equal(callerNetwork(request, isTrusted), expected)
  }
})
