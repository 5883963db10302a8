// Certificates made in the test itself: any subject, time, key, purpose and signature, signed by any other of them.
// So that a test of what is refused can show each fault alone.

import {
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import { bitString, der, objectId, sequence } from '../../server/core/certificates/der.ts'
import { encodeSubject, readSubject, type Subject } from '../../server/core/certificates/subject.ts'

export interface Issued {
  subject: Subject
  privateKey: KeyObject
  pem: string
  keyPem: string
}

export interface IssueOptions {
  subject: string
  /** Null: signed by itself. */
  by?: Issued | null
  isAuthority?: boolean
  purposes?: readonly ('client' | 'server')[]
  names?: readonly string[]
  addresses?: readonly string[]
  /** What an authority may not sign for. */
  excludedNames?: readonly string[]
  notBefore?: Date
  notAfter?: Date
  key?: KeyObject
  digest?: 'sha256' | 'sha1'
}

const PURPOSES = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' }
const ECDSA = { sha256: '1.2.840.10045.4.3.2', sha1: '1.2.840.10045.4.1' }
const RSA = { sha256: '1.2.840.113549.1.1.11', sha1: '1.2.840.113549.1.1.5' }
/** Against quantum computers. */
const ML_DSA_65 = '2.16.840.1.101.3.4.3.18'
const YEAR_MS = 365 * 86_400_000

export function newKey(kind: 'P-256' | 'ml-dsa-65' | number = 'P-256'): KeyObject {
  if (kind === 'ml-dsa-65') return generateKeyPairSync(kind).privateKey
  return kind === 'P-256'
    ? generateKeyPairSync('ec', { namedCurve: kind }).privateKey
    : generateKeyPairSync('rsa', { modulusLength: kind }).privateKey
}

export function issue(options: IssueOptions): Issued {
  const subject = readSubject(options.subject) as Subject
  const privateKey = options.key ?? newKey()
  const issuer = options.by ?? { subject, privateKey }
  const algorithm = algorithmOf(issuer.privateKey, options.digest ?? 'sha256')
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1, ...randomBytes(8)])),
    algorithm,
    encodeSubject(issuer.subject),
    sequence(
      time(options.notBefore ?? new Date(Date.now() - YEAR_MS)),
      time(options.notAfter ?? new Date(Date.now() + YEAR_MS)),
    ),
    encodeSubject(subject),
    createPublicKey(privateKey).export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions(options))),
  )
  const hasDigest = issuer.privateKey.asymmetricKeyType !== 'ml-dsa-65'
  const signature = sign(hasDigest ? (options.digest ?? 'sha256') : null, body, issuer.privateKey)
  return {
    subject,
    privateKey,
    pem: toPem('CERTIFICATE', sequence(body, algorithm, bitString(signature))),
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

/** A list of what an authority has revoked (RFC 5280 §5), as PEM. */
export function revoke(by: Issued, revoked: readonly Issued[]): string {
  const [from, to] = [new Date(Date.now() - 86_400_000), new Date(Date.now() + YEAR_MS)]
  const algorithm = algorithmOf(by.privateKey, 'sha256')
  const serials = revoked.map(({ pem }) =>
    sequence(der(0x02, Buffer.from(new X509Certificate(pem).serialNumber, 'hex')), time(from)),
  )
  const body = sequence(
    der(0x02, Buffer.from([1])),
    algorithm,
    encodeSubject(by.subject),
    time(from),
    time(to),
    sequence(...serials),
  )
  const signature = bitString(sign('sha256', body, by.privateKey))
  return toPem('X509 CRL', sequence(body, algorithm, signature))
}

function toPem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? []
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
}

function algorithmOf(key: KeyObject, digest: 'sha256' | 'sha1'): Buffer {
  if (key.asymmetricKeyType === 'ml-dsa-65') return sequence(objectId(ML_DSA_65))
  return key.asymmetricKeyType === 'rsa'
    ? sequence(objectId(RSA[digest]), der(0x05))
    : sequence(objectId(ECDSA[digest]))
}

function time(at: Date): Buffer {
  return der(0x18, Buffer.from(`${at.toISOString().replaceAll(/[-:T]|\.\d+/g, '')}`))
}

function extensions(options: IssueOptions): Buffer[] {
  const found: Buffer[] = []
  const add = (id: string, value: Buffer) => found.push(sequence(objectId(id), der(0x04, value)))
  if (options.isAuthority) add('2.5.29.19', sequence(der(0x01, Buffer.from([0xff]))))
  if (options.purposes) {
    add('2.5.29.37', sequence(...options.purposes.map((purpose) => objectId(PURPOSES[purpose]))))
  }
  const names = [
    ...(options.names ?? []).map((name) => der(0x82, Buffer.from(name))),
    ...(options.addresses ?? []).map((address) =>
      der(0x87, Buffer.from(address.split('.').map(Number))),
    ),
  ]
  if (names.length > 0) add('2.5.29.17', sequence(...names))
  const excluded = (options.excludedNames ?? []).map((name) =>
    sequence(der(0x82, Buffer.from(name))),
  )
  if (excluded.length > 0) add('2.5.29.30', sequence(der(0xa1, ...excluded)))
  return found
}
