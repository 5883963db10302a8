// A certificate with its chain, and the private key that belongs to it, as an operator hands them over: what cannot
// be used, or would be refused by receivers, is refused here, with what is wrong.

import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { pemBlocks } from './pem.ts'

const CHAIN_CERTIFICATES_MAX = 10
export const CHAIN_CHARACTERS_MAX = 32_768
const RSA_BITS_MIN = 2_048
/** Above these, verifying what such a key has signed takes long: an authority is a client's choice. */
const RSA_BITS_MAX = 8_192
const RSA_EXPONENT_MAX = 2n ** 33n
/** Of prime and of binary curves: an elliptic key names its field only where it writes its curve out (RFC 3279 §2.3.5). */
const EXPLICIT_FIELDS = ['06072a8648ce3d0101', '06072a8648ce3d0102'].map((id) =>
  Buffer.from(id, 'hex'),
)
const CURVES: readonly (string | undefined)[] = ['prime256v1', 'secp384r1', 'secp521r1']
const CLIENT_AUTHENTICATION = '1.3.6.1.5.5.7.3.2'
const ANY_PURPOSE = '2.5.29.37.0'

export interface CertificateChain {
  /** The first of them is the service's own. */
  certificates: readonly X509Certificate[]
  pem: string
  subject: string
  fingerprintSha256: string
  notBefore: Date
  notAfter: Date
}

export interface Refused {
  refused: string
}

export function readChain(text: string, nowMs: number): CertificateChain | Refused {
  const certificates = readCertificates(text)
  if ('refused' in certificates) return certificates
  const [own, ...above] = certificates as [X509Certificate, ...X509Certificate[]]
  const refused =
    certificates.map((one) => weaknessOf(one) ?? timeRefusal(one, nowMs)).find(Boolean) ??
    purposeRefusal(own) ??
    orderRefusal(own, above)
  if (refused) return { refused }
  return {
    certificates,
    pem: certificates.map((one) => one.toString()).join(''),
    subject: lineOf(own.subject),
    fingerprintSha256: own.fingerprint256.replaceAll(':', '').toLowerCase(),
    notBefore: own.validFromDate,
    notAfter: own.validToDate,
  }
}

/** Certificates of authorities, in any order: each one that may sign others, or the receiver's own, signed by itself. */
export function readAuthorities(text: string, nowMs: number): readonly X509Certificate[] | Refused {
  const certificates = readCertificates(text)
  if ('refused' in certificates) return certificates
  for (const certificate of certificates) {
    const refused =
      certificate.ca || signsItself(certificate)
        ? (weaknessOf(certificate) ?? timeRefusal(certificate, nowMs))
        : `${nameOf(certificate)} is no certificate of an authority: give the authority that signed the receiver's certificate.`
    if (refused) return { refused }
  }
  return certificates
}

export function readPrivateKey(text: string, chain: CertificateChain): KeyObject | Refused {
  const blocks = pemBlocks(text)
  const keys = blocks.filter(({ label }) => label.endsWith('PRIVATE KEY'))
  const [block] = keys
  if (block === undefined) {
    return { refused: 'Give the private key as PEM, beginning with -----BEGIN PRIVATE KEY-----.' }
  }
  if (keys.length > 1) return { refused: 'Give one private key: there are several in this PEM.' }
  if (block.label.startsWith('ENCRYPTED') || /^Proc-Type:.*ENCRYPTED/m.test(block.text)) {
    return {
      refused:
        'This private key is encrypted with a passphrase: give it decrypted (openssl pkey -in key.pem).',
    }
  }
  const key = parseKey(block.text)
  if (key === null) return { refused: 'This private key cannot be read: give it as PEM, PKCS #8.' }
  const weak = keyWeakness(key, 'The private key')
  if (weak !== null) return { refused: weak }
  if (writesCurveOut(key.export({ type: 'pkcs8', format: 'der' }))) {
    return {
      refused:
        'This private key is elliptic with explicit parameters: give it with the name of its curve (openssl ec -in key.pem -param_enc named_curve).',
    }
  }
  if (!chain.certificates[0]?.checkPrivateKey(key)) {
    return { refused: `This private key does not belong to the certificate of ${chain.subject}.` }
  }
  return key
}

function readCertificates(text: string): readonly X509Certificate[] | Refused {
  if (text.length > CHAIN_CHARACTERS_MAX) {
    return { refused: `Give at most ${CHAIN_CHARACTERS_MAX / 1_024} KiB of PEM.` }
  }
  const blocks = pemBlocks(text)
  if (blocks.some(({ label }) => label.endsWith('PRIVATE KEY'))) {
    return { refused: 'There is a private key among the certificates: give certificates alone.' }
  }
  if (blocks.length === 0 || blocks.some(({ label }) => label !== 'CERTIFICATE')) {
    return { refused: 'Give certificates as PEM, each beginning with -----BEGIN CERTIFICATE-----.' }
  }
  if (blocks.length > CHAIN_CERTIFICATES_MAX) {
    return { refused: `Give at most ${CHAIN_CERTIFICATES_MAX} certificates.` }
  }
  try {
    return blocks.map((block) => new X509Certificate(block.text))
  } catch {
    return { refused: 'One of the certificates cannot be read: give them as PEM, unchanged.' }
  }
}

function weaknessOf(certificate: X509Certificate): string | null {
  if (writesCurveOut(certificate.raw)) {
    return `The key of ${nameOf(certificate)} is elliptic with explicit parameters, which receivers refuse: ask for one that names its curve.`
  }
  const algorithm = certificate.signatureAlgorithm ?? ''
  // A root's own signature proves nothing and is not checked by anybody.
  if (!signsItself(certificate) && /sha-?1|md5/i.test(algorithm)) {
    return `${nameOf(certificate)} is signed with ${algorithm}, which receivers refuse: ask for one signed with SHA-256.`
  }
  return keyWeakness(certificate.publicKey, `The key of ${nameOf(certificate)}`)
}

function writesCurveOut(bytes: Buffer): boolean {
  return EXPLICIT_FIELDS.some((field) => bytes.includes(field))
}

function signsItself({ subject, issuer }: X509Certificate): boolean {
  return subject === issuer
}

function keyWeakness(key: KeyObject, whose: string): string | null {
  const { modulusLength = 0, publicExponent = 0n, namedCurve } = key.asymmetricKeyDetails ?? {}
  switch (key.asymmetricKeyType) {
    case 'rsa':
    case 'rsa-pss':
      if (modulusLength < RSA_BITS_MIN) {
        return `${whose} is RSA with ${modulusLength} bits: at least ${RSA_BITS_MIN} are needed.`
      }
      return modulusLength > RSA_BITS_MAX || publicExponent >= RSA_EXPONENT_MAX
        ? `${whose} is RSA that takes long to verify: use at most ${RSA_BITS_MAX} bits, and the usual exponent 65537.`
        : null
    case 'ec':
      return CURVES.includes(namedCurve)
        ? null
        : `${whose} is on the curve ${namedCurve}: use P-256, P-384 or P-521.`
    case 'ed25519':
      return null
    default:
      return `${whose} is of the kind ${key.asymmetricKeyType}: use RSA, ECDSA or Ed25519.`
  }
}

function timeRefusal(certificate: X509Certificate, nowMs: number): string | null {
  if (certificate.validToDate.getTime() <= nowMs) {
    return `${nameOf(certificate)} expired on ${certificate.validToDate.toISOString()}.`
  }
  if (certificate.validFromDate.getTime() > nowMs) {
    return `${nameOf(certificate)} is not valid before ${certificate.validFromDate.toISOString()}.`
  }
  return null
}

function purposeRefusal(own: X509Certificate): string | null {
  if (own.ca) {
    return signsItself(own)
      ? `${nameOf(own)} is that of an authority (basicConstraints CA:TRUE), which receivers refuse from a client: sign it without (openssl req -x509 -addext basicConstraints=critical,CA:FALSE).`
      : `The first certificate, ${nameOf(own)}, is that of an authority: begin with the service's own.`
  }
  const purposes: readonly string[] | undefined = own.keyUsage
  const isForClients =
    purposes === undefined ||
    purposes.includes(CLIENT_AUTHENTICATION) ||
    purposes.includes(ANY_PURPOSE)
  return isForClients
    ? null
    : `${nameOf(own)} is not meant for client authentication: ask for one with that extended key usage.`
}

function orderRefusal(own: X509Certificate, above: readonly X509Certificate[]): string | null {
  let below = own
  for (const certificate of above) {
    if (!below.checkIssued(certificate) || !below.verify(certificate.publicKey)) {
      return `${nameOf(certificate)} did not sign ${nameOf(below)}, which stands before it: give the service's own certificate first, then each one that signed the one before.`
    }
    below = certificate
  }
  return null
}

function parseKey(text: string): KeyObject | null {
  try {
    return createPrivateKey(text)
  } catch {
    return null
  }
}

function nameOf(certificate: X509Certificate): string {
  return `"${lineOf(certificate.subject) || 'a certificate without a subject'}"`
}

/** One line of what Node writes as several. */
function lineOf(name: string | undefined): string {
  return (name ?? '').split('\n').join(', ')
}
