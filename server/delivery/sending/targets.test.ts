import assert from 'node:assert/strict'
import test from 'node:test'
import type { SecureContext } from 'node:tls'
import fc from 'fast-check'
import { collectGarbage } from '../../../test/support/heap.ts'
import { Targets, toTarget } from './targets.ts'

const POLICY = { loopbackAllowed: false, allowedNetworks: [] }
const SANDBOX = { loopbackAllowed: true, allowedNetworks: [] }

const schemes = ['https://', 'http://', 'HTTPS://', 'ftp://', 'https:', 'https:///']
const hosts = [
  'a.example',
  'A.Example',
  'a.example.',
  'localhost',
  '127.0.0.1',
  '0x7f.1',
  '10.0.0.1',
  '93.184.216.34',
  '[::1]',
  'b%2eexample',
  'bücher.example',
  'user@a.example',
  '',
]
const ports = ['', ':443', ':80', ':8443', ':0', ':65536', ':', ':x']
const pieces = [
  '/',
  '.',
  '..',
  'a',
  '%2e',
  '%41',
  '?',
  '=',
  '&',
  ':',
  '#',
  '@',
  '\\',
  ' ',
  "'",
  'é',
  '~',
  '-',
]
const urls = fc
  .tuple(
    fc.constantFrom(...schemes),
    fc.constantFrom(...hosts),
    fc.constantFrom(...ports),
    fc.array(fc.constantFrom(...pieces), { maxLength: 8 }),
  )
  .map(([scheme, host, port, rest]) => `${scheme}${host}${port}${rest.join('')}`)

test('a URL leads where the whole of it leads when it is parsed, or nowhere', () => {
  for (const policy of [POLICY, SANDBOX]) {
    // One for all of them: what is remembered of an origin must hold for each of its URLs.
    const targets = new Targets(policy)
    const check = (url: string) =>
      assert.deepEqual(targets.of(url, null), toTarget(url, null, policy), url)
    fc.assert(fc.property(urls, check), { numRuns: 3_000 })
    for (const url of [
      'https://a.example/callbacks/paybell.php?id=1&to=a%20b',
      'https://a.example?to=/b/c',
      'https://a.example/b?',
      'https://a.example/b/../c',
      'https://a.example/.well-known/c',
      `https://a.example/${'a'.repeat(2_048)}`,
    ]) {
      check(url)
      check(url)
    }
  }
})

test('regression: a damaged URL is not taken for another one with the name of its TLS settings', () => {
  const targets = new Targets(POLICY)
  const tls = { name: 'abc def', context: {} as SecureContext }
  for (const [origin, rest] of [
    ['https://a.example', '/b'],
    ['https://a.example', '/b/../c'],
  ]) {
    assert.ok(targets.of(`${origin}${rest}`, tls))
    for (const url of [`${origin} abc def${rest}`, `${origin}${rest} abc def`]) {
      assert.deepEqual(targets.of(url, null), toTarget(url, null, POLICY), url)
    }
  }
})

test('URLs of one origin share a place, and with other TLS settings another', () => {
  const targets = new Targets(POLICY)
  const place = targets.of('https://a.example/b', null)?.place
  assert.ok(place !== undefined)
  assert.equal(targets.of('https://a.example/c?d=e', null)?.place, place)
  const tls = { name: 'other' } as never
  assert.equal(targets.of('https://a.example/b', tls)?.place.key, 'https://a.example other')
})

test('regression: no origin holds the TLS settings of those that were sent to it', async () => {
  const targets = new Targets(SANDBOX)
  const sendOnce = (url: string) => {
    const tls = { name: 'some settings', context: {} as SecureContext }
    assert.equal(targets.of(url, tls)?.place.tls, tls)
    return new WeakRef(tls)
  }
  const held = ['https://a.example/one', 'https://a.example/./odd'].map(sendOnce)
  // What was looked at a moment ago stays to the end of the turn.
  await new Promise(setImmediate)
  collectGarbage()
  assert.deepEqual(
    held.map((one) => one.deref()),
    [undefined, undefined],
  )
  assert.equal(targets.of('https://a.example/one', null)?.place.tls, null)
})
