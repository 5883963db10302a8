import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { checkNames, distanceBetween, findNearMiss } from './spelling.ts'

const NAMES = [
  'callbackUrl',
  'sharedKey',
  'headerKey',
  'headerValue',
  'events',
  'deliver',
  'document',
  'signatures',
  'hmacHeaderName',
  'description',
  'clientId',
  'clientSecret',
  'page',
  'size',
]
const LETTERS = 'abcdefghijklmnopqrstuvwxyz'

const name = fc.constantFrom(...NAMES)
const letter = fc.constantFrom(...LETTERS)

interface Slip {
  at: number
  letter: string
  kind: string
}

/** One slip of a typing hand. */
const slip = fc.record({
  at: fc.nat(40),
  letter,
  kind: fc.constantFrom('add', 'leave', 'swap', 'put'),
})

function type(text: string, { at, letter, kind }: Slip): string {
  const place = at % text.length
  const [head, rest] = [text.slice(0, place), text.slice(place)]
  if (kind === 'add') return `${head}${letter}${rest}`
  if (kind === 'leave') return `${head}${rest.slice(1)}`
  if (kind === 'put') return `${head}${letter}${rest.slice(1)}`
  return `${head}${rest.slice(1, 2)}${rest.slice(0, 1)}${rest.slice(2)}`
}

test('case, hyphens, underscores and plurals are near misses, however short the name', () => {
  for (const [spelt, meant] of [
    ['callbackURL', 'callbackUrl'],
    ['callback_url', 'callbackUrl'],
    ['Callback-Url', 'callbackUrl'],
    ['event', 'events'],
    ['Events', 'events'],
    ['Q', 'q'],
    ['TO', 'to'],
    ['ids', 'id'],
  ] as const) {
    assert.equal(findNearMiss(spelt, [...NAMES, 'q', 'to', 'id']), meant, spelt)
  }
})

test('one slip in any name, and two in a name of six letters or more, are found', () => {
  fc.assert(
    fc.property(name, slip, (meant, one) => {
      const spelt = type(meant, one)
      fc.pre(!NAMES.includes(spelt))
      assert.notEqual(findNearMiss(spelt, NAMES), null)
    }),
  )
  const long = fc.constantFrom(...NAMES.filter(({ length }) => length >= 6))
  fc.assert(
    fc.property(long, slip, slip, (meant, one, two) => {
      // Two swapped letters are two already.
      fc.pre(one.kind !== 'swap' && two.kind !== 'swap')
      const spelt = type(type(meant, one), two)
      fc.pre(!NAMES.includes(spelt))
      assert.notEqual(findNearMiss(spelt, NAMES), null)
    }),
  )
})

test('what is found is at most two slips away, and one in a short name', () => {
  const anything = fc.oneof(fc.string({ maxLength: 30 }), fc.string({ unit: letter, maxLength: 6 }))
  fc.assert(
    fc.property(anything, (spelt) => {
      const meant = findNearMiss(spelt, NAMES)
      if (meant === null) return
      const [one, other] = [spelt, meant].map((text) => text.toLowerCase().replaceAll(/[_-]/g, ''))
      const most = Math.max(one?.length ?? 0, other?.length ?? 0) < 6 ? 1 : 2
      assert.ok(distanceBetween(one as string, other as string) <= most, `${spelt} ${meant}`)
    }),
    { numRuns: 1_000 },
  )
})

test('names that integrators send besides are no near misses', () => {
  for (const spelt of [
    ...['webhookUrl', 'url', 'callback', 'endpoint', 'endpointUrl', 'name', 'title', 'id', 'key'],
    ...['secret', 'secretKey', 'secretId', 'header', 'metadata', 'meta', 'tags', 'labels', 'type'],
    ...['version', 'status', 'active', 'enabled', 'accountId', 'since', 'until', 'date', 'time'],
    ...['sort', 'order', 'limit', 'offset', 'cursor', 'q', 'search', 'filter', 'locale', 'lang'],
    ...['timestamp', 'nonce', 'scope', 'audience', 'resource', 'grant_type', 'username', '_', 't'],
    ...['format', 'fields', 'include', 'expand', 'created', 'requestId', 'idempotencyKey'],
  ]) {
    assert.equal(findNearMiss(spelt, NAMES), null, spelt)
  }
})

test('an unknown name is told apart from a misspelt one; a tolerant list takes it', () => {
  const known = new Set(['events', 'page'])
  const faults = (names: string[], isTolerant = false) =>
    checkNames(names, { known, isTolerant, refused: { dryRun: 'There is none.' } }, '/filter')
  assert.deepEqual(faults(['events', 'page']), [])
  assert.deepEqual(faults(['Event', 'other', 'dry_run']), [
    {
      pointer: '/filter/Event',
      code: 'misspelt',
      detail: 'Event is not known here. Did you mean events?',
    },
    { pointer: '/filter/other', code: 'unknown', detail: 'other is not known here.' },
    { pointer: '/filter/dry_run', code: 'not-taken', detail: 'There is none.' },
  ])
  assert.deepEqual(
    faults(['Event', 'other', '__proto__', 'constructor'], true).map(({ code }) => code),
    ['misspelt'],
  )
})

test('regression: no more than fifty unknown names are compared, however many are sent', () => {
  const known = new Set(NAMES)
  const nonsense = Array.from({ length: 4_370 }, (_, at) => `xqzwjk${at}`)
  let looks = 0
  const names = function* () {
    for (const one of nonsense) {
      looks += 1
      yield one
    }
  }
  assert.deepEqual(checkNames(names(), { known, isTolerant: true }), [])
  assert.equal(looks, 51)
  const misspelt = [...nonsense.slice(0, 49), 'callbackURL']
  assert.equal(checkNames(misspelt, { known, isTolerant: true })[0]?.code, 'misspelt')
})

test('no more than twenty are told, and what is no plain name is not repeated', () => {
  const names = { known: new Set<string>(), isTolerant: false }
  const many = Array.from({ length: 5_000 }, (_, at) => `name${at}`)
  assert.equal(checkNames(many, names).length, 20)
  for (const secret of [`pbs_${'x'.repeat(43)}`, 'with space', 'a/b', '', 'ä', 'a\nb']) {
    assert.deepEqual(checkNames([secret], names), [
      { pointer: '', code: 'unknown', detail: 'A name is not known here.' },
    ])
  }
})
