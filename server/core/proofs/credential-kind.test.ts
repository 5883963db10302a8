import assert from 'node:assert/strict'
import test from 'node:test'
import { encode } from '../../../test/support/jwt-part.ts'
import { kindOfCredential } from './credential-kind.ts'

test('a credential is known by its form, whether it is genuine or not', () => {
  const cases: readonly (readonly [string, string])[] = [
    [`pbk_${'a'.repeat(43)}`, 'operator-key'],
    ['pbo_sandbox', 'operator-key'],
    ['pbs_secret', 'client-secret'],
    [`${encode({ alg: 'EdDSA' })}.${encode({})}.c2ln`, 'access-token'],
    [`${encode({ alg: 'none' })}.e30.`, 'access-token'],
    ['a.b.c', 'none'],
    [`${encode([])}.e30.c2ln`, 'none'],
    [`${encode('text')}.e30.c2ln`, 'none'],
    [`${encode({})}.e30`, 'none'],
    [`${encode({})}.e30.c2ln.more`, 'none'],
    ['kQ3vX9mT7wZ2rB5nY8cL4hJ6sD1fG0pA', 'none'],
    ['', 'none'],
  ]
  for (const [text, kind] of cases) assert.equal(kindOfCredential(text), kind, text)
})
