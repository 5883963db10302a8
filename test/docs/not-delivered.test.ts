// docs/not-delivered.md knows every outcome and every state that docs/delivery.md, and so the code,
// has.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { DELIVERY_STATES } from '../../server/core/delivery/delivery.ts'
import { toClientCode } from '../../server/core/delivery/outcome-words.ts'

const read = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8')
const PAGE = read('not-delivered.md')

test('every outcome of an attempt is explained', () => {
  const outcomes = read('delivery.md').split('## Outcomes')[1] as string
  const codes = [...outcomes.matchAll(/^\| `([a-z-]+)` \|/gm)].map((match) => match[1] as string)
  assert.ok(codes.length > 8)
  // The page is for clients, who see coarser outcomes than the operator.
  for (const code of codes.map(toClientCode))
    assert.ok(PAGE.includes(`| \`${code}`) || PAGE.includes(`, \`${code}\``), code)
})

test('every state of a delivery is explained', () => {
  for (const state of DELIVERY_STATES) assert.ok(PAGE.includes(`\`${state}\``), state)
})
