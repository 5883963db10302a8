// docs/delivery.md, held to the code: the printed retry table, the worked signature, the tables of
// states, refusals and outcomes.

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { retryPolicy } from '../../server/core/delivery/backoff.ts'
import { DELIVERY_STATES, decide, type Outcome } from '../../server/core/delivery/delivery.ts'
import { outcomeWords } from '../../server/core/delivery/outcome-words.ts'
import { callbackHeaders } from '../../server/core/signatures/callback-headers.ts'
import { toSigningKey } from '../../server/core/signatures/signature.ts'

const DOC = readFileSync(new URL('../../docs/delivery.md', import.meta.url), 'utf8')

/** The content of the fenced block with this mark, without its last line feed. */
function block(mark: string): string {
  const found = new RegExp(`^\`\`\`\\w+ ${mark}\\n(.*?)\\n\`\`\`$`, 'ms').exec(DOC)
  assert.ok(found, `docs/delivery.md has no block ${mark}`)
  return found[1] as string
}

/** The cells of the table under a row of headings, a list for each row. */
function table(headings: string): string[][] {
  const lines = DOC.split('\n')
  const start = lines.indexOf(headings)
  assert.notEqual(start, -1, `docs/delivery.md has no table ${headings}`)
  const end = lines.findIndex((line, index) => index > start && !line.startsWith('|'))
  return lines.slice(start + 2, end).map((line) => line.slice(2, -2).split(' | '))
}

function inSpans(ms: number): string {
  let seconds = Math.round(ms / 1_000)
  const parts: string[] = []
  for (const [length, unit] of [
    [86_400, 'd'],
    [3_600, 'h'],
    [60, 'min'],
    [1, 's'],
  ] as const) {
    if (seconds >= length) parts.push(`${Math.floor(seconds / length)} ${unit}`)
    seconds %= length
  }
  return parts.join(' ') || '0 s'
}

test('the printed retry table is what the rules decide without jitter', () => {
  const policy = retryPolicy()
  const failed: Outcome = { kind: 'answered', status: 500 }
  const expected: string[][] = []
  let atMs = 0
  for (let attempt = 1; ; attempt++) {
    const running = { attemptsInRun: attempt, deadlineAtMs: policy.runMs }
    const decision = decide(running, failed, policy, atMs, () => 0.5)
    const row = [String(attempt), inSpans(atMs)]
    if (decision.state !== 'PENDING') {
      expected.push([...row, `none: \`${decision.state}\``])
      break
    }
    expected.push([...row, inSpans(decision.nextAttemptAtMs - atMs)])
    atMs = decision.nextAttemptAtMs
  }
  assert.deepEqual(
    table('| Attempt | Starts after the first | Then waits |'),
    withOneRowForEachWait(expected),
  )
})

/** Attempts that follow each other after the same wait share a row: the first to the last of them. */
function withOneRowForEachWait(rows: readonly string[][]): string[][] {
  return rows
    .map(([, , wait]) => rows.filter((row) => row[2] === wait))
    .filter((same, index) => same[0] === rows[index])
    .map((same) => {
      const [first, last] = [same[0] as string[], same.at(-1) as string[]]
      const span = (at: number) => (first === last ? first[at] : `${first[at]} to ${last[at]}`)
      return [span(0) as string, span(1) as string, first[2] as string]
    })
}

test('the worked signature is what an attempt with this body would carry', () => {
  const body = Buffer.from(block('example-body'))
  const key = block('example-key')
  const shown = new Map(
    block('example-headers')
      .split('\n')
      .map((line) => line.split(': ') as [string, string]),
  )
  const sent = callbackHeaders(
    {
      eventId: shown.get('webhook-id') as string,
      kind: 'payment.created',
      sequence: 1,
      attempt: 1,
      atMs: Number(shown.get('webhook-timestamp')) * 1_000,
      mark: null,
      traceparent: '',
      extraHeader: null,
    },
    { current: toSigningKey(key), previous: null },
    [body],
  )
  for (const [name, value] of shown) assert.equal(sent[sent.indexOf(name) + 1], value, name)
  assert.equal(shown.size, 4)
})

test('the worked signature holds for two readers who know nothing of our code', () => {
  const body = block('example-body')
  const key = block('example-key')
  const headers = Object.fromEntries(
    block('example-headers')
      .split('\n')
      .map((line) => line.split(': ')),
  )
  const hmac = createHmac('sha256', key).update(body, 'utf8').digest('hex')
  assert.equal(headers['X-Paybell-Hmac'], hmac)
  // `verify` also judges how old the timestamp is, so the library signs for the same moment instead.
  const secret = `whsec_${Buffer.from(key, 'utf8').toString('base64')}`
  const at = new Date(Number(headers['webhook-timestamp']) * 1_000)
  assert.equal(
    headers['webhook-signature'],
    new Webhook(secret).sign(headers['webhook-id'], at, body),
  )
})

test('every state of a delivery is drawn, and no other', () => {
  const drawn = DOC.match(/(?<=──▶ )[A-Z]+/g)
  assert.deepEqual(new Set(drawn), new Set(DELIVERY_STATES))
})

test('every header of an attempt is in the table', () => {
  const previous = { key: toSigningKey('old'), untilMs: 1 }
  const sent = callbackHeaders(
    {
      eventId: '',
      kind: '',
      sequence: 1,
      attempt: 1,
      atMs: 0,
      mark: null,
      traceparent: '',
      extraHeader: null,
    },
    { current: toSigningKey('new'), previous },
    [],
    { keyId: '', entries: '' },
  )
  const names = sent.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase())
  const shown = table('| Header | Value |')
    .map(([name]) => /^`(.*)`$/.exec(name as string)?.[1]?.toLowerCase())
    .filter((name) => name !== undefined)
  assert.deepEqual(shown.sort(), names.sort())
})

// The codes are types: they are read from where they are written.
function codesIn(file: string, type: string): string[] {
  const text = readFileSync(new URL(`../../server/core/${file}`, import.meta.url), 'utf8')
  const union = new RegExp(`type ${type} =([^=]*?)\\n\\n`).exec(text)?.[1] as string
  return [...union.matchAll(/'([a-z-]+)'/g)].map((match) => match[1] as string)
}

test('every reason to refuse an address is in the table', () => {
  const shown = table('| Code | What is wrong |').map(([code]) => code)
  const codes = codesIn('network/callback-url.ts', 'CallbackUrlCode')
  assert.deepEqual(
    shown,
    codes.map((code) => `\`${code}\``),
  )
})

test('every outcome of an attempt is in the table, with the words that people read', () => {
  const shown = table('| Outcome | Shown as | Meaning |').map(([code, words]) => [code, words])
  const codes = [
    'answered',
    ...codesIn('delivery/delivery.ts', 'UnreachableReason'),
    'blocked-address',
    ...codesIn('delivery/delivery.ts', 'UnsendableReason'),
    ...codesIn('tokens/token-answer.ts', 'TokenlessReason'),
  ]
  assert.deepEqual(
    shown,
    codes.map((code) => [`\`${code}\``, outcomeWords(code)]),
  )
})
