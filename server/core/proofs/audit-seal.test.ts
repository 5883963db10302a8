import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { toCanonicalJson } from '../plain/canonical-json.ts'
import { digestRow, type SealedRow } from './audit-seal.ts'

test('the digest of a row is that of its canonical JSON, whatever its members say and whichever it has', () => {
  const text = fc.string({ unit: 'binary' })
  const members = { id: text, at: text, actor: text, action: text, object: text, requestId: text }
  const row = fc.record({ ...members, position: text })
  const more = fc.record(
    {
      changes: fc.array(fc.record({ field: text, before: fc.option(text), after: text })),
      added: fc.oneof(text, fc.integer()),
    },
    { requiredKeys: [] },
  )
  const check = (sealed: object) => {
    const expected = createHash('sha256').update(`${toCanonicalJson(sealed)}\n`)
    assert.equal(
      digestRow(sealed as SealedRow).toString('hex'),
      expected.digest('hex'),
      JSON.stringify(sealed),
    )
  }
  fc.assert(fc.property(row, more, (one, other) => check({ ...other, ...one })))
  // A member less, and another in its place.
  const altered = fc.tuple(row, fc.constantFrom(...Object.keys(members)))
  fc.assert(
    fc.property(altered, ([one, name]) => {
      const { [name as 'actor']: _, ...rest } = one
      assert.notDeepEqual(digestRow({ ...rest, added: 'x' } as never), digestRow(one))
    }),
  )
})
