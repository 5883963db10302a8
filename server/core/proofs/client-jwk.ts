// A public key with which a client proves who it is: Ed25519, P-256 or RSA of 2048 bits and more, as a JWK (RFC 7517).
// What comes out holds the members of the key alone, and never a private one.

import type { FieldError } from '../plain/errors.ts'

export const ASSERTION_ALGORITHMS = ['EdDSA', 'ES256', 'PS256'] as const
export type AssertionAlgorithm = (typeof ASSERTION_ALGORITHMS)[number]

export interface ClientJwk {
  kty: string
  crv?: string
  x?: string
  y?: string
  n?: string
  e?: string
  alg: AssertionAlgorithm
  /** Null where its owner gave none: then it is named by its thumbprint. */
  kid: string | null
}

const KINDS = {
  OKP: { alg: 'EdDSA', crv: 'Ed25519', members: ['x'] },
  EC: { alg: 'ES256', crv: 'P-256', members: ['x', 'y'] },
  RSA: { alg: 'PS256', crv: undefined, members: ['n', 'e'] },
} as const

/** RFC 7518 §6: what only the owner may have, of any kind of key. */
const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']
const RSA_BITS_MIN = 2_048
/** Verifying takes longer with each bit. */
const RSA_BITS_MAX = 8_192
/** It stands in addresses, where one or two dots lead elsewhere, and in the header of an assertion. */
export const KID_PATTERN = '^(?!\\.{1,2}$)[A-Za-z0-9._~-]{1,128}$'
const KID = new RegExp(KID_PATTERN)
const BASE64URL = /^[A-Za-z0-9_-]+$/
/** With 1 a signature is the message itself; a large one costs a second to verify under. Common tools make 65537. */
const EXPONENT_MAX = 2 ** 32
/**
 * The encodings of the eight points of small order of Ed25519, y alone: under such a key one signature holds for many
 * messages. They have five values of y, since the sign bit does not matter; the last two entries are the first two again, written
 * above the prime.
 */
const SMALL_POINTS = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
])

type Jwk = Readonly<Record<string, unknown>>

/** The key, or all that is wrong with it. */
export function parseClientJwk(jwk: Jwk): ClientJwk | readonly FieldError[] {
  const errors: FieldError[] = []
  const fault = (name: string, code: string, detail: string) =>
    errors.push({ pointer: `/jwk/${name}`, code, detail })
  for (const name of PRIVATE.filter((one) => one in jwk)) {
    fault(
      name,
      'private-key',
      'This is a private key: whoever sees it can pretend to be the client. Make a new one, and send its public part only.',
    )
  }
  const { kid = null } = jwk
  if (kid !== null && !(typeof kid === 'string' && KID.test(kid))) {
    fault('kid', 'wrong-format', 'Must be 1 to 128 letters, digits and ._~-, other than . and ..')
  }
  const kind = Object.hasOwn(KINDS, String(jwk.kty)) ? KINDS[jwk.kty as keyof typeof KINDS] : null
  if (kind === null) {
    fault('kty', 'not-in-list', 'Must be OKP (Ed25519), EC (P-256) or RSA.')
    return errors
  }
  if (jwk.crv !== kind.crv)
    fault(
      'crv',
      'not-in-list',
      kind.crv === undefined ? 'An RSA key has no curve.' : `Must be ${kind.crv}.`,
    )
  // WebCrypto names the curve.
  const given = jwk.alg === 'Ed25519' ? 'EdDSA' : jwk.alg
  if (given !== undefined && given !== kind.alg)
    fault('alg', 'not-in-list', `Must be ${kind.alg} for such a key, or be left out.`)
  if (jwk.use !== undefined && jwk.use !== 'sig')
    fault('use', 'not-in-list', 'Must be sig, or be left out.')
  if (jwk.key_ops !== undefined && !isVerifying(jwk.key_ops))
    fault('key_ops', 'not-in-list', 'Must be ["verify"], or be left out.')
  const members: Record<string, string> = {}
  for (const name of kind.members) {
    const text = jwk[name]
    if (typeof text === 'string' && BASE64URL.test(text) && text.length <= (2 * RSA_BITS_MAX) / 8)
      members[name] = text
    else
      fault(
        name,
        text === undefined ? 'missing' : 'wrong-format',
        'Must be base64url, as in RFC 7518.',
      )
  }
  const bits = members.n === undefined ? null : bitsOf(members.n)
  if (bits !== null && bits < RSA_BITS_MIN)
    fault('n', 'weak-key', `An RSA key must have at least ${RSA_BITS_MIN} bits.`)
  if (bits !== null && bits > RSA_BITS_MAX)
    fault('n', 'too-long', `An RSA key must have at most ${RSA_BITS_MAX} bits.`)
  if (members.n !== undefined && !isOdd(members.n))
    fault('n', 'weak-key', 'Must be odd, as the product of two large primes is.')
  if (members.e !== undefined && !isUsualExponent(members.e))
    fault('e', 'weak-key', 'Must be odd and from 3 to 4294967295: 65537 (AQAB) is usual.')
  if (kind.crv === 'Ed25519' && members.x !== undefined && isSmallPoint(members.x))
    fault('x', 'weak-key', 'Is a point of small order: anyone could sign for such a key.')
  if (errors.length > 0) return errors
  const { alg, crv } = kind
  return { kty: jwk.kty as string, ...(crv && { crv }), ...members, alg, kid: kid as string | null }
}

function isVerifying(operations: unknown): boolean {
  return Array.isArray(operations) && operations.length === 1 && operations[0] === 'verify'
}

function isOdd(number: string): boolean {
  return ((Buffer.from(number, 'base64url').at(-1) ?? 0) & 1) === 1
}

function isUsualExponent(exponent: string): boolean {
  const value = BigInt(`0x0${Buffer.from(exponent, 'base64url').toString('hex')}`)
  return value >= 3n && value < EXPONENT_MAX && isOdd(exponent)
}

function isSmallPoint(x: string): boolean {
  const bytes = Buffer.from(x, 'base64url')
  if (bytes.length !== 32) return false
  bytes[31] = (bytes[31] as number) & 0x7f
  return SMALL_POINTS.has(bytes.toString('hex'))
}

function bitsOf(modulus: string): number {
  const bytes = Buffer.from(modulus, 'base64url')
  const first = bytes.findIndex((byte) => byte !== 0)
  return first < 0 ? 0 : (bytes.length - first) * 8 - Math.clz32(bytes[first] as number) + 24
}
