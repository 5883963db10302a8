// A certificate signing request (PKCS #10, RFC 2986) for a key that never leaves the service. Banks sign RSA keys
// everywhere and elliptic ones only in places, so the key is RSA.

import { createPublicKey, generateKeyPair, type KeyObject, sign } from 'node:crypto'
import { bitString, der, objectId, sequence } from './der.ts'
import { encodeSubject, type Subject } from './subject.ts'

const RSA_BITS = 2_048
const SHA256_WITH_RSA = '1.2.840.113549.1.1.11'

/** Takes a moment, beside the event loop. */
export function makeRequestKey(): Promise<KeyObject> {
  return new Promise((resolve, reject) => {
    generateKeyPair('rsa', { modulusLength: RSA_BITS }, (error, _, privateKey) => {
      if (error === null) resolve(privateKey)
      else reject(error)
    })
  })
}

/** The request as PEM. */
export function writeRequest(subject: Subject, privateKey: KeyObject): string {
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' })
  const version = der(0x02, Buffer.from([0]))
  const noAttributes = der(0xa0)
  const info = sequence(version, encodeSubject(subject), publicKey, noAttributes)
  const algorithm = sequence(objectId(SHA256_WITH_RSA), der(0x05))
  const request = sequence(info, algorithm, bitString(sign('sha256', info, privateKey)))
  return toPem('CERTIFICATE REQUEST', request)
}

function toPem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? []
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
}
