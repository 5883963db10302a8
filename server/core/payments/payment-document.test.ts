import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { FILE_BASE64_CHARACTERS_MAX, FILE_BYTES_MAX } from './payment.ts'
import { readFile } from './payment-document.ts'

test('P2: law: what was encoded is read, with its size, its hash and the same base64', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), (bytes) => {
      const text = Buffer.from(bytes).toString('base64')
      const file = readFile(text)
      assert.ok(typeof file === 'object')
      assert.equal(Buffer.from(file.base64).toString('ascii'), text)
      assert.deepEqual(file.hash, createHash('sha256').update(bytes).digest())
      assert.equal(file.sizeBytes, bytes.length)
    }),
  )
})

// The one rule again, as RFC 4648 has it: alphabet, padding, and zero bits under the padding.
const STRICT =
  /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{4}|[A-Za-z\d+/][AQgw]==|[A-Za-z\d+/]{2}[AEIMQUYcgkosw048]=)$/

test('P2: law: a text is read exactly when it is strict base64', () => {
  const characters = [...'AQgwZz09+/==', ...'-_ \n\0', 'Ł', 'é']
  const text = fc.string({ unit: fc.constantFrom(...characters), minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(text, (text) => {
      assert.equal(typeof readFile(text) === 'object', STRICT.test(text))
    }),
    { numRuns: 5_000 },
  )
})

test('P2: junk, wrong padding, stray bits, the url-safe alphabet and whitespace are no base64', () => {
  const good = ['TQ==', 'TWE=', 'TWFu', '++//']
  const bad = [
    'TQ=',
    'TQ',
    'TQ===',
    'TR==',
    'TWF=',
    'TWFu=',
    '--__',
    'TW Fu',
    'TWFu\n',
    '*WFu',
    '====',
  ]
  bad.push('=', 'T===', 'TQ==TQ==', 'TWFuŁWFu', 'TWFu\0', '\ud800WFu', 'data:;base64,TQ==')
  for (const text of good) assert.equal(typeof readFile(text), 'object', text)
  for (const text of bad) assert.equal(readFile(text), 'not-base64', text)
  assert.equal(readFile(''), 'empty')
})

test('P2: 10 MiB are read, one byte more is too large, and a stray character is found anywhere', () => {
  const encoded = (bytes: number) => Buffer.alloc(bytes, 'receipt').toString('base64')
  const largest = encoded(FILE_BYTES_MAX)
  assert.equal(largest.length, FILE_BASE64_CHARACTERS_MAX)
  const file = readFile(largest)
  assert.ok(typeof file === 'object' && file.sizeBytes === FILE_BYTES_MAX)
  for (const more of [1, 2, 3])
    assert.equal(readFile(encoded(FILE_BYTES_MAX + more)), 'file-too-large')
  for (const at of [0, 16_383, 16_384, 7_000_000, largest.length - 4]) {
    for (const character of ['-', '=', 'Ł']) {
      const changed = largest.slice(0, at) + character + largest.slice(at + 1)
      assert.equal(readFile(changed), 'not-base64', `${character} at ${at}`)
    }
  }
})
