// What the console keeps of a list in a browser's storage: small, and of the right shape, whoever has written it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Kept,
  NAME_CHARACTERS_MAX,
  parseKept,
  SAVED_MAX,
  withColumn,
  withoutSaved,
  withSaved,
} from '../../console/src/ui/lists/kept.ts'

const NOTHING: Kept = { saved: [], hidden: [] }
const due = { name: 'Due', query: '?state=PENDING' }

test('what is stored and is nothing of ours is read as nothing', () => {
  for (const text of [
    null,
    '',
    'null',
    '7',
    '[]',
    '{"saved":7,"hidden":{}}',
    '{"saved":[null,3]}',
  ]) {
    assert.deepEqual(parseKept(text), NOTHING, String(text))
  }
})

test('a saved filter is a query with a name, and leads to no other page', () => {
  const read = (saved: unknown) => parseKept(JSON.stringify({ saved: [saved] })).saved
  assert.deepEqual(read(due), [due])
  for (const wrong of [
    { ...due, query: 'https://elsewhere.example/' },
    { ...due, query: '' },
    { ...due, query: `?q=${'x'.repeat(1_000)}` },
    { ...due, name: '' },
    { ...due, name: 'x'.repeat(NAME_CHARACTERS_MAX + 1) },
    { name: 'Due' },
  ]) {
    assert.deepEqual(read(wrong), [], JSON.stringify(wrong))
    assert.deepEqual(withSaved(NOTHING, wrong as typeof due).saved, [], JSON.stringify(wrong))
  }
})

test('a name and a filter are saved once, and no more than there is room for', () => {
  const renamed = withSaved(withSaved(NOTHING, due), { ...due, name: 'Later' })
  assert.deepEqual(renamed.saved, [{ ...due, name: 'Later' }])
  const replaced = withSaved(renamed, { name: 'Later', query: '?outcome=5xx' })
  assert.deepEqual(replaced.saved, [{ name: 'Later', query: '?outcome=5xx' }])
  assert.deepEqual(withoutSaved(replaced, { name: 'Later' }), NOTHING)

  let kept = NOTHING
  for (let n = 0; n <= SAVED_MAX; n++) kept = withSaved(kept, { name: `${n}`, query: `?q=${n}` })
  assert.equal(kept.saved.length, SAVED_MAX)
  assert.deepEqual(kept.saved.at(-1), { name: `${SAVED_MAX - 1}`, query: `?q=${SAVED_MAX - 1}` })
  const tooMany = Array.from({ length: 50 }, (_, n) => ({ name: `${n}`, query: `?q=${n}` }))
  assert.equal(parseKept(JSON.stringify({ saved: tooMany })).saved.length, SAVED_MAX)
})

test('a column is hidden, and shown again', () => {
  const hidden = withColumn(withColumn(NOTHING, 'Next', false), 'Next', false)
  assert.deepEqual(parseKept(JSON.stringify(hidden)).hidden, ['Next'])
  assert.deepEqual(withColumn(hidden, 'Next', true), NOTHING)
})
