// Secrets at rest: AES-256-GCM under a master key, bound to the row and column that hold them, so a
// ciphertext moved elsewhere does not open. Several master keys may read; the first one writes.
//   sealed = version (1 byte) | key id (4) | nonce (12) | tag (16) | ciphertext

import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'

const VERSION = 1
const HEADER_BYTES = 1 + 4 + 12 + 16

/** Where a secret lives: `endpoints.shared_key`, and the id of its row. */
export interface SealedPlace {
  column: string
  row: string
}

export class Sealer {
  readonly #keys = new Map<string, KeyObject>()
  readonly #writeKeyId: string

  constructor(masterKeys: readonly Buffer[]) {
    const [first] = masterKeys
    if (first === undefined) throw new Error('a sealer needs a master key')
    for (const key of masterKeys) this.#keys.set(keyId(key), createSecretKey(key))
    this.#writeKeyId = keyId(first)
  }

  get writeKeyId(): string {
    return this.#writeKeyId
  }

  hasKey(id: string): boolean {
    return this.#keys.has(id)
  }

  seal(secret: Uint8Array, place: SealedPlace): Buffer {
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', this.#key(this.#writeKeyId), nonce)
    cipher.setAAD(aad(place))
    const text = Buffer.concat([cipher.update(secret), cipher.final()])
    const id = Buffer.from(this.#writeKeyId, 'hex')
    return Buffer.concat([Buffer.of(VERSION), id, nonce, cipher.getAuthTag(), text])
  }

  /** Throws when the text was damaged, moved, or sealed under a key that is not configured. */
  open(sealed: Uint8Array, place: SealedPlace): Buffer {
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
    if (bytes.length < HEADER_BYTES || bytes[0] !== VERSION) throw new Error('not a sealed text')
    const key = this.#key(bytes.toString('hex', 1, 5))
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(5, 17))
    decipher.setAAD(aad(place))
    decipher.setAuthTag(bytes.subarray(17, 33))
    return Buffer.concat([decipher.update(bytes.subarray(HEADER_BYTES)), decipher.final()])
  }

  /** The stored form of a generated secret of 256 bits: no slow hash is needed for those. */
  digest(
    secret: string,
    masterKeyId = this.#writeKeyId,
    /** One kind's digest is nothing to another. */
    kind: 'client-secret' | 'operator-key' = 'client-secret',
  ): Buffer {
    return createHmac('sha256', this.#key(masterKeyId)).update(`${kind}\0`).update(secret).digest()
  }

  /** True when `secret` has this digest; the same work whether it matches or not. */
  matches(secret: string, digest: Uint8Array, masterKeyId: string): boolean {
    if (!this.#keys.has(masterKeyId)) return false
    return timingSafeEqual(this.digest(secret, masterKeyId), digest)
  }

  #key(id: string): KeyObject {
    const key = this.#keys.get(id)
    if (key === undefined) throw new Error(`master key ${id} is not configured`)
    return key
  }
}

/** Tells keys apart without telling anything about them. */
function keyId(key: Buffer): string {
  return createHash('sha256')
    .update('paybell master key id\0')
    .update(key)
    .digest('hex')
    .slice(0, 8)
}

function aad(place: SealedPlace): Buffer {
  return Buffer.from(`${place.column}\0${place.row}`)
}
