// The private key with which a client proves who it is: read from PKCS#8, a JWK or a CryptoKey, checked before it is used, and
// held as Web Crypto holds it, from where it cannot be read. What is wrong with it is said without repeating any of it.

import type { ImportedKey } from './ed25519.ts'
import { type Bytes, fromBase64 } from './hmac.ts'

/** A private key as a JWK (RFC 7517): Ed25519, P-256, or RSA of 2048 bits and more. Other members are not looked at. */
export interface PrivateJwk {
  kty?: string | undefined
  crv?: string | undefined
  x?: string | undefined
  y?: string | undefined
  d?: string | undefined
  n?: string | undefined
  e?: string | undefined
  p?: string | undefined
  q?: string | undefined
  dp?: string | undefined
  dq?: string | undefined
  qi?: string | undefined
}

/** PKCS#8 as PEM, a JWK, or a CryptoKey that may sign. */
export type PrivateKey = string | PrivateJwk | ImportedKey

export type SigningAlgorithm = 'EdDSA' | 'ES256' | 'PS256'

/** Ready to sign. */
export interface SigningKey {
  alg: SigningAlgorithm
  key: ImportedKey
}

interface Kind {
  alg: SigningAlgorithm
  /** To import it. */
  algorithm: { name: string; namedCurve?: string; hash?: string }
  /** To sign with it. */
  signing: { name: string; hash?: string; saltLength?: number }
  kty: string
  crv?: string
  members: readonly (keyof PrivateJwk)[]
  /** As PKCS#8 names it: the identifiers of its algorithm, and of its curve, in DER. */
  identifier: string
}

const KINDS: readonly Kind[] = [
  {
    alg: 'EdDSA',
    algorithm: { name: 'Ed25519' },
    signing: { name: 'Ed25519' },
    kty: 'OKP',
    crv: 'Ed25519',
    members: ['kty', 'crv', 'x', 'd'],
    identifier: '06032b6570',
  },
  {
    alg: 'ES256',
    algorithm: { name: 'ECDSA', namedCurve: 'P-256' },
    signing: { name: 'ECDSA', hash: 'SHA-256' },
    kty: 'EC',
    crv: 'P-256',
    members: ['kty', 'crv', 'x', 'y', 'd'],
    identifier: '06072a8648ce3d020106082a8648ce3d030107',
  },
  {
    alg: 'PS256',
    algorithm: { name: 'RSA-PSS', hash: 'SHA-256' },
    // RFC 7518 §3.5: the salt is as long as the digest.
    signing: { name: 'RSA-PSS', saltLength: 32 },
    kty: 'RSA',
    members: ['kty', 'n', 'e', 'd', 'p', 'q', 'dp', 'dq', 'qi'],
    identifier: '06092a864886f70d010101',
  },
]

const KNOWN = 'It must be Ed25519, P-256 or RSA.'
const RSA_BITS_MIN = 2_048

/** Throws at once for what can be seen to be no such key; what only Web Crypto sees fails when it is awaited. */
export function readPrivateKey(given: PrivateKey): () => Promise<SigningKey> {
  const load = typeof given === 'string' ? readPem(given) : readObject(given)
  let loaded: Promise<SigningKey> | undefined
  return () => {
    loaded ??= load().then(assertStrong)
    return loaded
  }
}

/** As JWS has it (RFC 7518 §3). */
export async function signWith({ alg, key }: SigningKey, data: Bytes): Promise<Bytes> {
  const { signing } = KINDS.find((kind) => kind.alg === alg) as Kind
  return new Uint8Array(await crypto.subtle.sign(signing, key, data))
}

function readPem(text: string): () => Promise<SigningKey> {
  const [, label, base64 = '', end] =
    /^\s*-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END ([A-Z0-9 ]+)-----\s*$/.exec(text) ?? []
  if (label === undefined || label !== end) {
    throw new TypeError(
      'privateKey is not PEM: it must be one block of -----BEGIN PRIVATE KEY-----.',
    )
  }
  if (label !== 'PRIVATE KEY') throw new TypeError(`privateKey is ${label}: ${adviceFor(label)}`)
  const der = fromBase64(base64.replaceAll(/\s/g, ''))
  // The identifiers stand within the first bytes (RFC 5208 §5): version, then the algorithm.
  const kind = der && KINDS.find(({ identifier }) => toHexStart(der).includes(identifier))
  if (!kind) throw new TypeError(`privateKey is not a key that can be used here. ${KNOWN}`)
  return () =>
    imported(kind, crypto.subtle.importKey('pkcs8', der, kind.algorithm, false, ['sign']))
}

function adviceFor(label: string): string {
  if (label === 'ENCRYPTED PRIVATE KEY') {
    return 'it is encrypted. Decrypt it first: openssl pkcs8 -in key.pem -out plain.pem'
  }
  if (label.endsWith('PRIVATE KEY')) {
    return 'it must be PKCS#8. Convert it: openssl pkcs8 -topk8 -nocrypt -in key.pem -out pkcs8.pem'
  }
  return 'the private key is needed here, and stays with you.'
}

function toHexStart(bytes: Bytes): string {
  return Array.from(bytes.subarray(0, 40), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function readObject(given: PrivateJwk | ImportedKey): () => Promise<SigningKey> {
  if (typeof given !== 'object' || given === null) {
    throw new TypeError('privateKey must be PKCS#8 as PEM, a JWK or a CryptoKey.')
  }
  return 'algorithm' in given && 'usages' in given ? readCryptoKey(given) : readJwk(given)
}

function readJwk(jwk: PrivateJwk): () => Promise<SigningKey> {
  const kind = KINDS.find(
    ({ kty, crv }) => kty === jwk.kty && (crv === undefined || crv === jwk.crv),
  )
  if (kind === undefined) {
    throw new TypeError(`privateKey is no JWK of a key that can be used here. ${KNOWN}`)
  }
  const missing = kind.members.filter((name) => typeof jwk[name] !== 'string')
  if (missing.length > 0) {
    const isPublic = missing.includes('d')
      ? ' It is the public key: the private one is needed here.'
      : ''
    throw new TypeError(`privateKey has no ${missing.join(', ')}.${isPublic}`)
  }
  // These alone: what a JWK says of its use is not in one language across runtimes.
  const members = Object.fromEntries(kind.members.map((name) => [name, jwk[name]]))
  return () =>
    imported(kind, crypto.subtle.importKey('jwk', members, kind.algorithm, false, ['sign']))
}

function readCryptoKey(key: ImportedKey): () => Promise<SigningKey> {
  const { name, namedCurve, hash } = key.algorithm as {
    name: string
    namedCurve?: string
    hash?: { name: string }
  }
  const kind = KINDS.find(
    ({ algorithm }) =>
      algorithm.name === name &&
      algorithm.namedCurve === namedCurve &&
      algorithm.hash === hash?.name,
  )
  if (kind === undefined || key.type !== 'private' || !key.usages.includes('sign')) {
    throw new TypeError(
      'privateKey must be a private CryptoKey that may sign: Ed25519, ECDSA with P-256, or RSA-PSS with SHA-256.',
    )
  }
  return async () => ({ alg: kind.alg, key })
}

/** What Web Crypto says of a bad key differs by runtime, and helps nobody. */
async function imported({ alg }: Kind, key: Promise<ImportedKey>): Promise<SigningKey> {
  try {
    return { alg, key: await key }
  } catch {
    throw new TypeError(`privateKey cannot be read as a key for ${alg}.`)
  }
}

function assertStrong(signing: SigningKey): SigningKey {
  const { modulusLength = RSA_BITS_MIN } = signing.key.algorithm as { modulusLength?: number }
  if (modulusLength >= RSA_BITS_MIN) return signing
  throw new TypeError(`privateKey has ${modulusLength} bits: an RSA key must have ${RSA_BITS_MIN}.`)
}
