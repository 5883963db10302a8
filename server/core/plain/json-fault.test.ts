import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { describeJsonFault } from './json-fault.ts'

const FAULTS: readonly (readonly [string, string])[] = [
  ['', 'empty, not JSON'],
  [' \n ', 'empty, not JSON'],
  ['{', 'JSON that ends too early'],
  ['{"a":1', 'JSON that ends too early'],
  ['{"a":"b', 'JSON that ends too early'],
  ['[1,', 'JSON that ends too early'],
  ['a', 'not valid JSON at character 1'],
  ['{"a":1,}', 'not valid JSON at character 8'],
  ["{'a':1}", 'not valid JSON at character 2'],
  ['{"a" 1}', 'not valid JSON at character 6'],
  ['{"a":01}', 'not valid JSON at character 7'],
  ['{"a":"\\x"}', 'not valid JSON at character 7'],
  ['{"a":"b\nc"}', 'not valid JSON at character 8'],
  ['{\n  "a": 1\n  "b": 2\n}', 'not valid JSON at line 3, character 3'],
  ['{"a":1} {', 'not valid JSON at character 9'],
  ['[1}', 'not valid JSON at character 3'],
  ['\uFEFF{}', 'not valid JSON at character 1'],
]

test('a fault is told with its line and character', () => {
  for (const [text, words] of FAULTS) {
    assert.throws(() => JSON.parse(text), SyntaxError, text)
    assert.equal(describeJsonFault(text), words, JSON.stringify(text))
  }
})

test('every text that JSON.parse refuses has a place, and the text before it could go on', () => {
  const mutated = fc
    .tuple(fc.json(), fc.nat(), fc.string({ maxLength: 3 }), fc.nat({ max: 3 }))
    .map(([json, at, put, cut]) => {
      const place = at % (json.length + 1)
      return json.slice(0, place) + put + json.slice(place + cut)
    })
  fc.assert(
    fc.property(mutated, (text) => {
      let isJson = true
      try {
        JSON.parse(text)
      } catch {
        isJson = false
      }
      // Only a valid text has no place.
      assert.equal(describeJsonFault(text) === 'not valid JSON', isJson, JSON.stringify(text))
    }),
    { numRuns: 2_000 },
  )
})

test('a fault behind the first 256 KiB is not looked for', () => {
  assert.equal(describeJsonFault(`${' '.repeat(300_000)}x`), 'not valid JSON')
  assert.equal(describeJsonFault(`["${'a'.repeat(300_000)}", x]`), 'not valid JSON')
})
