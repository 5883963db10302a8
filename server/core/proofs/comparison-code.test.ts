import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toComparisonCode } from './comparison-code.ts'

test('the terminal and the page make the same code, in letters that are not mistaken', () => {
  const codes = Array.from({ length: 500 }, (_, index) => toComparisonCode(`challenge ${index}`))
  for (const code of codes) assert.match(code, /^[A-HJ-NP-Z2-9]{4}-[A-HJ-NP-Z2-9]{4}$/)
  assert.equal(new Set(codes).size, codes.length)
  assert.equal(toComparisonCode('challenge 7'), codes[7])
})
