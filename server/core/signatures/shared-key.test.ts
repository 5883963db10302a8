import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkSharedKey } from './shared-key.ts'

test('G2: keys with spaces at the ends, quotes, per cent signs and accents are taken as they are', () => {
  for (const key of ['a', ' padded ', `"'%`, 'é', 'x'.repeat(256), '😀'.repeat(256), '\u00a0a']) {
    assert.equal(checkSharedKey(key, 1), null, key)
  }
})

test('G3: blank, control characters, lone surrogates and 257 characters are refused by name', () => {
  const cases: [string, string][] = [
    ['', 'blank'],
    ['   ', 'blank'],
    ['\u00a0\u3000', 'blank'],
    ['a\u0000b', 'control-character'],
    ['a\nb', 'control-character'],
    ['a\tb', 'control-character'],
    ['a\u007f', 'control-character'],
    ['a\u0085', 'control-character'],
    ['\ud800', 'invalid-text'],
    ['key\udc00key', 'invalid-text'],
    ['x'.repeat(257), 'too-long'],
    ['😀'.repeat(257), 'too-long'],
    ['x'.repeat(1_000_000), 'too-long'],
  ]
  for (const [key, code] of cases) assert.equal(checkSharedKey(key, 1)?.code, code, code)
})

test('G3: 15 characters are too short in production and enough in the sandbox', () => {
  assert.equal(checkSharedKey('x'.repeat(15), 16)?.code, 'too-short')
  assert.equal(checkSharedKey('😀'.repeat(15), 16)?.code, 'too-short')
  assert.equal(checkSharedKey('x'.repeat(16), 16), null)
  assert.equal(checkSharedKey('x'.repeat(15), 1), null)
})

test('no detail repeats the key', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 8 }), (key) => {
      assert.equal(checkSharedKey(key, 300)?.detail.includes(key) ?? false, false)
    }),
  )
})
