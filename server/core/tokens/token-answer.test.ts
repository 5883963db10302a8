import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTokenAnswer } from './token-answer.ts'

type Answered = readonly [status: number, body: Uint8Array | undefined]

function answered(status: number, body: unknown): Answered {
  return [status, Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))]
}

const TOKEN = { access_token: 'abc.DEF-1_~+/=', token_type: 'Bearer', expires_in: 3600 }

test('a token is read whatever the case of its type, and whatever else comes along', () => {
  for (const token_type of ['Bearer', 'bearer', 'BEARER']) {
    const answer = readTokenAnswer(...answered(200, { ...TOKEN, token_type, scope: 'a', x: null }))
    assert.deepEqual(answer, { token: TOKEN.access_token, keptMs: 3_540_000 })
  }
})

test('a token is kept until a minute before its end, for an hour at most, and for minutes when it does not say', () => {
  const lives: readonly [unknown, number][] = [
    [3_600, 3_540],
    [86_400, 3_600],
    [1e308, 3_600],
    ['86400', 3_600],
    ['120', 60],
    [61, 1],
    [60, 0],
    [0, 0],
    [-5, 0],
    [undefined, 240],
    [null, 240],
    ['-5', 240],
    ['soon', 240],
    [{}, 240],
  ]
  for (const [expires_in, keptSeconds] of lives) {
    const answer = readTokenAnswer(...answered(200, { ...TOKEN, expires_in }))
    assert.deepEqual(answer, { token: TOKEN.access_token, keptMs: keptSeconds * 1_000 })
  }
  const endless = readTokenAnswer(
    ...answered(200, '{"access_token":"a","token_type":"bearer","expires_in":1e999}'),
  )
  assert.deepEqual(endless, { token: 'a', keptMs: 3_600_000 })
})

const REFUSED: readonly [string, Answered, RegExp][] = [
  ['no JSON', answered(200, 'hello'), /not with a JSON object/],
  ['nothing', [200, undefined], /not with a JSON object/],
  ['a list', answered(200, [TOKEN]), /not with a JSON object/],
  ['text', answered(200, '"token"'), /not with a JSON object/],
  ['cut off', answered(200, '{"access_token":"abc","token_ty'), /not with a JSON object/],
  ['no UTF-8', [200, Buffer.of(0x22, 0xff, 0x22)], /not with a JSON object/],
  ['no token', answered(200, { token_type: 'Bearer' }), /without an access_token/],
  ['an empty token', answered(200, { ...TOKEN, access_token: '' }), /without an access_token/],
  ['a number', answered(200, { ...TOKEN, access_token: 7 }), /without an access_token/],
  ['no type', answered(200, { access_token: 'a' }), /token_type other than Bearer/],
  ['MAC', answered(200, { ...TOKEN, token_type: 'MAC' }), /token_type other than Bearer/],
  ['DPoP', answered(200, { ...TOKEN, token_type: 'DPoP' }), /token_type other than Bearer/],
  ['a line feed', answered(200, { ...TOKEN, access_token: 'a\r\nX-Evil: 1' }), /no header can/],
  ['a space', answered(200, { ...TOKEN, access_token: 'a b' }), /no header can/],
  ['an umlaut', answered(200, { ...TOKEN, access_token: 'ä' }), /no header can/],
  ['U+010A', answered(200, { ...TOKEN, access_token: 'a\u010a' }), /no header can/],
  ['a long one', answered(200, { ...TOKEN, access_token: 'a'.repeat(8_193) }), /more than 8 KiB/],
  ['201', answered(201, TOKEN), /answered 201\.$/],
  ['302', answered(302, ''), /answered 302\. Redirects are not followed\.$/],
  ['400', answered(400, { error: 'invalid_client' }), /answered 400 invalid_client\.$/],
  ['401', answered(401, { error: 'secret-said-back' }), /answered 401\.$/],
  ['429', answered(429, ''), /answered 429\.$/],
]

for (const [name, given, detail] of REFUSED) {
  test(`the token is refused: ${name}`, () => {
    const answer = readTokenAnswer(...given)
    assert.ok('reason' in answer && answer.reason === 'token-refused', JSON.stringify(answer))
    assert.match(answer.detail, detail)
  })
}

test('a token endpoint that fails itself has refused nothing', () => {
  const failed: readonly [Answered, string][] = [
    [answered(500, ''), 'The token endpoint answered 500.'],
    [
      answered(503, { error: 'temporarily_unavailable' }),
      'The token endpoint answered 503 temporarily_unavailable.',
    ],
  ]
  for (const [given, detail] of failed) {
    assert.deepEqual(readTokenAnswer(...given), { reason: 'token-unreachable', detail })
  }
})
