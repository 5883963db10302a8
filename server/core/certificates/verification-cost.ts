// What it takes to verify a chain of certificates, told before anyone does: a receiver chooses its chain, and OpenSSL
// verifies all of it in one stretch, whether or not it is trusted. Only the kinds of keys that are listed here are taken, so
// that none is verified whose cost is not known.

import { DerReader, NotDer } from './der-reader.ts'

/** Public authorities have three or four in a chain. */
const CERTIFICATES_MAX = 10
/** Of all signatures under the keys of a chain together: four certificates under P-384 take 7 ms. */
const COST_US_MAX = 10_000

const RSA_BITS_MAX = 8_192
/** In use are 3 and 65,537. As long as the modulus, it makes each verification 200 times as costly. */
const RSA_EXPONENT_BITS_MAX = 33
/** Measured: 6 to 15 ms with 3,072 bits and an exponent of 3,071. */
const RSA_US_PER_BIT_CUBED = 5.2e-7

const INTEGER = 0x02
const BIT_STRING = 0x03
const OBJECT_ID = 0x06
const SEQUENCE = 0x30
const VERSION = 0xa0

/** rsaEncryption and RSASSA-PSS (RFC 4055). */
const RSA = ['2a864886f70d010101', '2a864886f70d01010a']
const EC = '2a8648ce3d0201'

/** Microseconds of one verification on a busy machine of two cores, by the content of the object id. */
const CURVES: Readonly<Record<string, number>> = {
  '2a8648ce3d030107': 200, // P-256
  '2b81040022': 1_800, // P-384
  '2b81040023': 2_000, // P-521
  '2b2403030208010107': 500, // brainpoolP256r1
  '2b240303020801010b': 1_000, // brainpoolP384r1
  '2b240303020801010d': 1_400, // brainpoolP512r1
}
const KEYS: Readonly<Record<string, number>> = {
  '2b6570': 200, // Ed25519
  '2b6571': 300, // Ed448
  '608648016503040311': 200, // ML-DSA-44
  '608648016503040312': 300, // ML-DSA-65
  '608648016503040313': 800, // ML-DSA-87
}

/** Whether these certificates, DER each, may be verified: not too many, of known kinds, and cheap enough together. */
export function isCheapToVerify(certificates: readonly Uint8Array[]): boolean {
  if (certificates.length > CERTIFICATES_MAX) return false
  let costUs = 0
  for (const certificate of certificates) costUs += verificationUs(certificate)
  return costUs <= COST_US_MAX
}

/** Of one signature under the key of this certificate. Infinity where that is not known. */
export function verificationUs(certificate: Uint8Array): number {
  try {
    return keyUs(readKeyInfo(certificate))
  } catch (error) {
    if (error instanceof NotDer) return Number.POSITIVE_INFINITY
    throw error
  }
}

/** The SubjectPublicKeyInfo of a certificate (RFC 5280 §4.1). */
function readKeyInfo(certificate: Uint8Array): DerReader {
  const signed = new DerReader(new DerReader(certificate).readOnly(SEQUENCE))
  const fields = new DerReader(signed.read(SEQUENCE))
  if (fields.nextTag === VERSION) fields.read(VERSION)
  fields.read(INTEGER) // serialNumber
  for (const _ of ['signature', 'issuer', 'validity', 'subject']) fields.read(SEQUENCE)
  return new DerReader(fields.read(SEQUENCE))
}

function keyUs(info: DerReader): number {
  const algorithm = new DerReader(info.read(SEQUENCE))
  const id = hexOf(algorithm.read(OBJECT_ID))
  if (RSA.includes(id)) return rsaUs(bitsOf(info.readOnly(BIT_STRING)))
  // A curve that is given by its parameters has no name, and is not taken.
  if (id === EC) return CURVES[hexOf(algorithm.readOnly(OBJECT_ID))] ?? Number.POSITIVE_INFINITY
  return KEYS[id] ?? Number.POSITIVE_INFINITY
}

function rsaUs(key: Uint8Array): number {
  const numbers = new DerReader(new DerReader(key).readOnly(SEQUENCE))
  const modulusBits = bitLengthOf(numbers.read(INTEGER))
  const exponentBits = bitLengthOf(numbers.readOnly(INTEGER))
  if (modulusBits > RSA_BITS_MAX || exponentBits > RSA_EXPONENT_BITS_MAX) {
    return Number.POSITIVE_INFINITY
  }
  return modulusBits ** 2 * exponentBits * RSA_US_PER_BIT_CUBED
}

/** The first byte says how many bits of the last are none; of whole bytes that is 0. */
function bitsOf(content: Uint8Array): Uint8Array {
  if (content[0] !== 0) throw new NotDer('bits that are no bytes')
  return content.subarray(1)
}

function bitLengthOf(integer: Uint8Array): number {
  const from = integer.findIndex((byte) => byte !== 0)
  if (from === -1) return 0
  return (integer.length - from) * 8 - (Math.clz32(integer[from] ?? 0) - 24)
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
}
