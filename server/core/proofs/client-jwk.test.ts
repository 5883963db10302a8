import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import test from 'node:test'
import { parseClientJwk } from './client-jwk.ts'

const jwkOf = (pair: { publicKey: { export(options: { format: 'jwk' }): object } }) =>
  pair.publicKey.export({ format: 'jwk' }) as Record<string, string>

const ED = jwkOf(generateKeyPairSync('ed25519'))
const EC = jwkOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }))
const RSA = jwkOf(generateKeyPairSync('rsa', { modulusLength: 2_048 }))

/** `pointer code` of all that is wrong; [] where nothing is. */
function faults(jwk: Record<string, unknown>): string[] {
  const parsed = parseClientJwk(jwk)
  return 'kty' in parsed ? [] : parsed.map(({ pointer, code }) => `${pointer} ${code}`)
}

test('Ed25519, P-256 and RSA keys are taken, each with its algorithm and nothing else of what came', () => {
  assert.deepEqual(parseClientJwk({ ...ED, ext: true, x5t: 'a' }), {
    ...ED,
    alg: 'EdDSA',
    kid: null,
  })
  assert.deepEqual(parseClientJwk({ ...EC, use: 'sig', kid: 'k-1' }), {
    ...EC,
    alg: 'ES256',
    kid: 'k-1',
  })
  assert.deepEqual(parseClientJwk({ ...ED, alg: 'Ed25519' }), { ...ED, alg: 'EdDSA', kid: null })
  assert.deepEqual(parseClientJwk({ ...RSA, alg: 'PS256' }), { ...RSA, alg: 'PS256', kid: null })
})

test('a private key is refused, whatever kind it is', () => {
  const privately = (type: 'ed25519') =>
    generateKeyPairSync(type).privateKey.export({ format: 'jwk' })
  assert.deepEqual(faults(privately('ed25519') as Record<string, string>), ['/jwk/d private-key'])
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey.export({
    format: 'jwk',
  })
  assert.deepEqual(
    faults(rsa as Record<string, string>),
    ['d', 'p', 'q', 'dp', 'dq', 'qi'].map((name) => `/jwk/${name} private-key`),
  )
  assert.deepEqual(faults({ kty: 'oct', k: 'c2VjcmV0' }), [
    '/jwk/k private-key',
    '/jwk/kty not-in-list',
  ])
})

test('regression: keys that anyone could sign for are refused', () => {
  const hex = (text: string) => Buffer.from(text, 'hex').toString('base64url')
  const even = Buffer.from(RSA.n as string, 'base64url')
  even[even.length - 1] = (even.at(-1) as number) & 0xfe
  const identity = `01${'00'.repeat(31)}`
  const minusOne = `ec${'ff'.repeat(30)}7f`
  const ofOrderEight = '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05'
  for (const [jwk, expected] of [
    [{ ...RSA, e: 'AQ' }, ['/jwk/e weak-key']],
    [{ ...RSA, e: 'AA' }, ['/jwk/e weak-key']],
    [{ ...RSA, e: hex('010000') }, ['/jwk/e weak-key']],
    [{ ...RSA, e: RSA.n }, ['/jwk/e weak-key']],
    [{ ...RSA, e: hex('0100000001') }, ['/jwk/e weak-key']],
    [{ ...RSA, e: hex('0000000003') }, []],
    [{ ...RSA, e: hex('ffffffff') }, []],
    [{ ...RSA, n: even.toString('base64url') }, ['/jwk/n weak-key']],
    [{ ...ED, key_ops: ['encrypt'] }, ['/jwk/key_ops not-in-list']],
    [{ ...ED, key_ops: ['verify', 'sign'] }, ['/jwk/key_ops not-in-list']],
    [{ ...ED, key_ops: 'verify' }, ['/jwk/key_ops not-in-list']],
    [{ ...ED, key_ops: ['verify'] }, []],
    [{ ...ED, x: hex('00'.repeat(32)) }, ['/jwk/x weak-key']],
    [{ ...ED, x: hex(identity) }, ['/jwk/x weak-key']],
    [{ ...ED, x: hex(`01${'00'.repeat(30)}80`) }, ['/jwk/x weak-key']],
    [{ ...ED, x: hex(minusOne) }, ['/jwk/x weak-key']],
    [{ ...ED, x: hex(ofOrderEight) }, ['/jwk/x weak-key']],
    [{ ...ED, x: hex(`${ofOrderEight.slice(0, 62)}85`) }, ['/jwk/x weak-key']],
    [{ ...ED, x: hex(`ee${'ff'.repeat(30)}ff`) }, ['/jwk/x weak-key']],
  ] as const) {
    assert.deepEqual(faults(jwk), expected, JSON.stringify(jwk).slice(0, 80))
  }
})

test('what is weak, foreign or malformed is named', () => {
  const weak = jwkOf(generateKeyPairSync('rsa', { modulusLength: 1_024 }))
  const curve = jwkOf(generateKeyPairSync('ec', { namedCurve: 'P-384' }))
  const { x: _x, ...withoutX } = ED
  for (const [jwk, expected] of [
    [weak, ['/jwk/n weak-key']],
    // Zeros in front make no key longer.
    [
      {
        ...weak,
        n: Buffer.concat([Buffer.alloc(200), Buffer.from(weak.n as string, 'base64url')]).toString(
          'base64url',
        ),
      },
      ['/jwk/n weak-key'],
    ],
    [{ ...RSA, n: 'A'.repeat(3_000) }, ['/jwk/n wrong-format']],
    [curve, ['/jwk/crv not-in-list']],
    [{ ...ED, crv: 'X25519' }, ['/jwk/crv not-in-list']],
    [withoutX, ['/jwk/x missing']],
    [{ ...ED, x: 7 }, ['/jwk/x wrong-format']],
    [{ ...ED, x: 'a+b/' }, ['/jwk/x wrong-format']],
    [{ ...ED, alg: 'ES256' }, ['/jwk/alg not-in-list']],
    [{ ...RSA, alg: 'RS256' }, ['/jwk/alg not-in-list']],
    [{ ...ED, use: 'enc' }, ['/jwk/use not-in-list']],
    [{ ...ED, kid: '' }, ['/jwk/kid wrong-format']],
    [{ ...ED, kid: 'a/b' }, ['/jwk/kid wrong-format']],
    // In an address they lead elsewhere: the key could not be deleted.
    [{ ...ED, kid: '.' }, ['/jwk/kid wrong-format']],
    [{ ...ED, kid: '..' }, ['/jwk/kid wrong-format']],
    [{ ...ED, kid: 'x'.repeat(129) }, ['/jwk/kid wrong-format']],
    [{ ...ED, kid: 7 }, ['/jwk/kid wrong-format']],
    [{}, ['/jwk/kty not-in-list']],
    [{ kty: 'constructor' }, ['/jwk/kty not-in-list']],
  ] as const) {
    assert.deepEqual(faults(jwk), expected, JSON.stringify(jwk).slice(0, 80))
  }
})
