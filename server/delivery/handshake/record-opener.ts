// Opens the encrypted records of a server's first flight in TLS 1.3 (RFC 8446 §5.2, §7.3), with the secret that OpenSSL has
// agreed on with it. So the certificates can be looked at before OpenSSL verifies them.

import {
  type CipherGCMTypes,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
} from 'node:crypto'
import { Malformed } from './wire-reader.ts'

interface Suite {
  cipher: CipherGCMTypes | 'chacha20-poly1305'
  keyBytes: number
  hash: 'sha256' | 'sha384'
}

/** Those that Node offers. */
const SUITES: Readonly<Record<number, Suite>> = {
  4865: { cipher: 'aes-128-gcm', keyBytes: 16, hash: 'sha256' },
  4866: { cipher: 'aes-256-gcm', keyBytes: 32, hash: 'sha384' },
  4867: { cipher: 'chacha20-poly1305', keyBytes: 32, hash: 'sha256' },
}
const IV_BYTES = 12
const TAG_BYTES = 16
const HEADER_BYTES = 5

export interface Opened {
  /** Of the record inside: handshake or alert. */
  type: number
  content: Buffer
}

export class RecordOpener {
  readonly #suite: Suite
  readonly #key: KeyObject
  readonly #iv: Buffer
  #sequence = 0

  constructor(suiteNumber: number, secret: Buffer) {
    const suite = SUITES[suiteNumber]
    if (suite === undefined) throw new Malformed('a cipher that was not offered')
    this.#suite = suite
    // Node takes three times as long for keys that are given as bytes.
    const key = createSecretKey(secret)
    this.#key = createSecretKey(expandLabel(suite.hash, key, 'key', suite.keyBytes))
    this.#iv = expandLabel(suite.hash, key, 'iv', IV_BYTES)
  }

  open(record: Buffer): Opened {
    const header = record.subarray(0, HEADER_BYTES)
    const sealed = record.subarray(HEADER_BYTES, -TAG_BYTES)
    if (record.length < HEADER_BYTES + TAG_BYTES) throw new Malformed('a record too short')
    const nonce = this.#nextNonce()
    // One cipher's type stands for both: they are used alike.
    const cipher = this.#suite.cipher as CipherGCMTypes
    const options = { authTagLength: TAG_BYTES }
    const decipher = createDecipheriv(cipher, this.#key, nonce, options)
    decipher.setAAD(header)
    decipher.setAuthTag(record.subarray(-TAG_BYTES))
    const inner = decipher.update(sealed)
    try {
      decipher.final()
    } catch {
      throw new Malformed('a record that was not sealed with the agreed key')
    }
    return withoutPadding(inner)
  }

  /** The sequence number, padded, over the iv. */
  #nextNonce(): Buffer {
    const nonce = Buffer.from(this.#iv)
    const at = IV_BYTES - 4
    nonce.writeUInt32BE((nonce.readUInt32BE(at) ^ this.#sequence) >>> 0, at)
    this.#sequence += 1
    return nonce
  }
}

/** The last byte that is not 0 is the type. */
function withoutPadding(inner: Buffer): Opened {
  let at = inner.length - 1
  while (at >= 0 && inner[at] === 0) at -= 1
  const type = inner[at]
  if (type === undefined) throw new Malformed('a record without a type')
  return { type, content: inner.subarray(0, at) }
}

/** HKDF-Expand-Label without a context: one block of HKDF is enough for a key. */
function expandLabel(hash: string, secret: KeyObject, label: string, length: number): Buffer {
  const name = Buffer.from(`tls13 ${label}`)
  const info = Buffer.from([0, length, name.length, ...name, 0, 1])
  return createHmac(hash, secret).update(info).digest().subarray(0, length)
}
