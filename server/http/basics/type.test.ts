// The builders of schemas make what TypeBox makes: the same members in the same order, so that what is published and
// what is checked is the same, too.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type as TypeBox } from 'typebox'
import { Type } from './type.ts'

/** Each builder, with and without options, inside and outside of objects. */
function examplesOf(T: typeof Type): Record<keyof typeof Type, object> {
  const described = { description: 'Of a test.', title: 'Title' }
  const text = T.String({ minLength: 1, ...described })
  return {
    Array: [T.Array(text), T.Array(T.Integer(), { maxItems: 3 })],
    Boolean: [T.Boolean(), T.Boolean(described)],
    Enum: [T.Enum(['a', 'b']), T.Enum(['a'], described)],
    Integer: [T.Integer(), T.Integer({ minimum: 1, ...described })],
    Literal: [T.Literal('1', described), T.Literal(1), T.Literal(true)],
    Null: [T.Null(), T.Null(described)],
    Number: [T.Number(), T.Number(described)],
    Object: [
      T.Object({}),
      T.Object({ text, flag: T.Boolean() }, { additionalProperties: false, ...described }),
      T.Object({ text: T.Optional(text) }),
      T.Object({ text: T.Optional(text), flag: T.Boolean(), own: { type: 'string' } as never }),
      T.Object({ flag: T.Optional(T.Unsafe<number | null>({ type: ['integer', 'null'] })) }),
      T.Object({ flag: T.Unsafe<boolean>(T.Optional(T.Boolean())) }),
      T.Object({ twice: T.Optional(T.Optional(text)), spread: { ...T.Optional(text) } }),
    ],
    Optional: [T.Optional(text), T.Optional(T.Object({ text }))],
    Record: [T.Record(T.String(), T.String()), T.Record(T.String(), text, described)],
    String: [T.String(), text],
    Union: [T.Union([T.String(), T.Null()]), T.Union([text], described)],
    Unsafe: [T.Unsafe<string>({ type: 'string', ...described }), T.Unsafe<string>(text)],
  }
}

const [ours, theirs] = [examplesOf(Type), examplesOf(TypeBox)]
for (const [name, example] of Object.entries(theirs)) {
  test(`${name} makes the schema that TypeBox makes, member by member`, () => {
    const made = ours[name as keyof typeof Type]
    assert.equal(JSON.stringify(made), JSON.stringify(example))
  })
}

test('every builder has an example', () => {
  assert.deepEqual(Object.keys(ours).toSorted(), Object.keys(Type).toSorted())
})
