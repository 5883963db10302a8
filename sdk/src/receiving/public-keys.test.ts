import assert from 'node:assert/strict'
import { test } from 'node:test'
import vectors from '../../../test/vectors/asymmetric-signatures.json' with { type: 'json' }
import type { Whpk } from '../plain/ed25519.ts'
import { PaybellError } from '../plain/errors.ts'
import { fetchPublicKeys } from './public-keys.ts'

const ADDRESS = 'https://paybell.example/.well-known/webhook-keys.json'
const [CURRENT, PREVIOUS] = vectors.keys.map(({ jwk }) => jwk)

/** An address that answers what a test sets, and counts. */
function address(answers: { keys: unknown } | (() => Response | Promise<Response>)) {
  const seen = { calls: 0, nowMs: 0, answer: answers }
  const source = fetchPublicKeys(ADDRESS, {
    now: () => seen.nowMs,
    fetch: (async (url: string, init: RequestInit) => {
      seen.calls++
      assert.equal(url, ADDRESS)
      assert.equal(init.redirect, 'manual')
      const { answer } = seen
      return typeof answer === 'function' ? answer() : Response.json(answer)
    }) as typeof fetch,
  })
  const find = async (kid?: string) => (await source.find(kid)).map((key) => key.kid)
  return { seen, find }
}

test('keys are fetched once and kept for an hour', async () => {
  const { seen, find } = address({ keys: [CURRENT], retired: [PREVIOUS] } as never)
  const all = await Promise.all(Array.from({ length: 20 }, () => find(CURRENT?.kid)))
  assert.deepEqual(new Set(all.flat()), new Set([CURRENT?.kid]), 'retired ones are not among them')
  assert.equal(seen.calls, 1)
  seen.nowMs = 3_599_999
  await find(CURRENT?.kid)
  assert.equal(seen.calls, 1)
  seen.nowMs = 3_600_000
  await find(CURRENT?.kid)
  assert.equal(seen.calls, 2)
})

test('a key that is not known is asked for, and not more often than every ten seconds', async () => {
  const { seen, find } = address({ keys: [PREVIOUS] })
  await find(PREVIOUS?.kid)
  seen.answer = { keys: [CURRENT, PREVIOUS] }
  seen.nowMs = 10_000
  assert.deepEqual(await find(CURRENT?.kid), [CURRENT?.kid, PREVIOUS?.kid])
  assert.equal(seen.calls, 2)
  for (let at = 0; at < 100; at++) await find(`forged-${at}`)
  assert.equal(seen.calls, 2)
})

test('while the address is away the keys of before hold, for a day', async () => {
  const { seen, find } = address({ keys: [CURRENT] })
  await find()
  seen.answer = () => new Response('', { status: 503 })
  seen.nowMs = 80_000_000
  assert.deepEqual(await find(), [CURRENT?.kid])
  seen.nowMs = 90_000_000
  await assert.rejects(find(), PaybellError)
})

test('without any key nothing can be judged, and the next callback asks again after a while', async () => {
  const { seen, find } = address(() => Promise.reject(new Error('no network')))
  await assert.rejects(find(), (error) => error instanceof PaybellError && error.status === 0)
  await assert.rejects(find(), PaybellError)
  assert.equal(seen.calls, 1)
  seen.nowMs = 10_000
  seen.answer = { keys: [CURRENT] }
  assert.deepEqual(await find(), [CURRENT?.kid])
})

test('what is not keys is refused: a page, a redirect, too much; keys of another kind are left out', async () => {
  const bad = [
    () => new Response('<html>'),
    () => new Response('{}'),
    () => new Response(null, { status: 302, headers: { location: 'https://evil.example' } }),
    () => new Response('x'.repeat(300_000)),
  ]
  for (const answer of bad) await assert.rejects(address(answer).find(), PaybellError)
  const keys = [
    null,
    { ...CURRENT, kty: 'RSA' },
    { ...CURRENT, crv: 'X25519' },
    { ...CURRENT, x: 'AAAA' },
    { ...CURRENT, kid: 1 },
    CURRENT,
  ]
  assert.deepEqual(await address({ keys }).find(), [CURRENT?.kid])
  const many = Array.from({ length: 100 }, (_, at) => ({ ...CURRENT, kid: String(at) }))
  assert.equal((await address({ keys: many }).find()).length, 16)
})

test('a wrong address fails at the start', () => {
  assert.throws(() => fetchPublicKeys('paybell.example'), TypeError)
})

test('whpk_ of the vectors is the key of the vectors', () => {
  const whpk: Whpk = vectors.keys[0]?.whpk as Whpk
  assert.ok(whpk.startsWith('whpk_'))
})
