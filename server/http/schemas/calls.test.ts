// What a call is published with besides its own problems follows from its interface and from what it takes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from '../basics/type.ts'
import { answer, forAnyone, forClients, forOperators } from './calls.ts'
import { EMPTY_BODY, IdParams } from './schemas.ts'

const CALL = {
  operationId: 'act',
  summary: 'Act',
  description: 'Acts.',
  answers: { 204: answer('Done.', EMPTY_BODY) },
}

function codesOf({ schema }: { schema: { response: Record<number, unknown> } }): string[] {
  const texts = Object.values(schema.response).map((one) => JSON.stringify(one))
  return texts.flatMap((text) => [...text.matchAll(/`([a-z-]+)`/g)].map(([, code]) => code ?? ''))
}

const ALWAYS = codesOf(forAnyone(CALL))

for (const [what, taken, codes] of [
  ['a path', { params: IdParams }, ['not-found']],
  ['a query', { querystring: Type.Object({}) }, ['invalid-query']],
  [
    'a body',
    { body: Type.Object({}) },
    ['body-too-large', 'invalid-fields', 'malformed-json', 'unsupported-media-type'],
  ],
] as const) {
  test(`a call that takes ${what} can be refused for it`, () => {
    const found = codesOf(forAnyone({ ...CALL, ...taken })).filter((code) => !ALWAYS.includes(code))
    assert.deepEqual(found.toSorted(), codes)
  })
}

test('a call has the problems of its interface, and its own', () => {
  const added = (call: Parameters<typeof codesOf>[0]) =>
    codesOf(call).filter((code) => !ALWAYS.includes(code))
  const problems = ['delivery-final'] as const
  assert.deepEqual(added(forClients({ ...CALL, problems })).toSorted(), [
    'client-moved',
    'delivery-final',
    'invalid-account',
    'invalid-query',
    'invalid-token',
    'missing-token',
    'too-many-requests',
  ])
  assert.deepEqual(added(forOperators('admin', { ...CALL, problems })).toSorted(), [
    'delivery-final',
    'invalid-query',
    'invalid-token',
    'missing-token',
    'role-not-allowed',
  ])
})

test('a tolerant call refuses no parameters, and no member that resembles none of its own', () => {
  const call = forClients({ ...CALL, isTolerant: true, body: Type.Object({}) })
  assert.ok(!codesOf(call).includes('invalid-query'))
  assert.deepEqual((call.schema as { body?: object }).body, {
    ...Type.Object({}),
    isTolerant: true,
  })
})

test('only an account that must be there is required', () => {
  assert.deepEqual(forClients(CALL).schema.headers.required, undefined)
  assert.deepEqual(forClients(CALL, 'required').schema.headers.required, ['AccountId'])
})
