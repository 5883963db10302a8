// Secrets at rest: AES-256-GCM, bound to the row and column that hold them, so a ciphertext moved elsewhere does not open;
// what is sealed for an endpoint also to the address it is sent to (decision 0112). Several master keys may read; the
// first one writes. No key does two things: one for AES and one for HMAC are derived from each master key (HKDF-SHA-256).
// What earlier releases wrote is read as ever, and written until the operator is done with them (decision 0017).
//   sealed = form (1 byte) | id of the master key (4) | nonce (12) | tag (16) | ciphertext

import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import { type Binding, furtherOf } from '../../core/proofs/sealing-mark.ts'
import { ASSERTION_KEY_BYTES } from '../../core/tokens/assertion-key.ts'

/** Under the master key itself, or under a key that is derived from it. */
const PLAIN_FORM = 1
const DERIVED_FORM = 2
/** Under a derived key, and bound to an address besides. */
export const BOUND_FORM = 3
const HEADER_BYTES = 1 + 4 + 12 + 16
/** The id of the master key, and the HMAC. */
const RECORD_MAC_BYTES = 4 + 32
/** Behind the id of the master key, where a digest was made with a derived key. */
const DERIVED_MARK = '/2'

/** Where a secret lives: `endpoints.shared_key`, and the id of its row. */
export interface SealedField {
  column: string
  row: string
  /** Of what is sealed for an endpoint: where it is sent to. */
  address?: string
}

interface MasterKey {
  plain: KeyObject
  forSealing: KeyObject
  forDigests: KeyObject
  forLinks: KeyObject
  forRecords: KeyObject
  forAssertions: KeyObject
}

export class Sealer {
  readonly #keys = new Map<string, MasterKey>()
  readonly #writeKeyId: string
  #isDerived: boolean
  #binding: Binding = 'none'

  constructor(masterKeys: readonly Buffer[], { isDerived = false } = {}) {
    const [first] = masterKeys
    if (first === undefined) throw new Error('a sealer needs a master key')
    for (const key of masterKeys) this.#keys.set(keyId(key), toMasterKey(key))
    this.#writeKeyId = keyId(first)
    this.#isDerived = isDerived
  }

  /** From now on what is written is under derived keys. */
  writeDerived(): void {
    this.#isDerived = true
  }

  /** How far the database is with binding to addresses, as far as this process knows. */
  get binding(): Binding {
    return this.#binding
  }

  /** What has an address is sealed bound to it from now on; once that is done, nothing else of the kind opens. */
  bindAddresses(to: Binding): void {
    this.#binding = furtherOf(this.#binding, to)
  }

  /** The id of the master key that writes. */
  get writeKeyId(): string {
    return this.#writeKeyId
  }

  /** What is stored beside a digest, to tell which key it was made with. */
  get digestKeyId(): string {
    return this.#isDerived ? this.#writeKeyId + DERIVED_MARK : this.#writeKeyId
  }

  /** Whether a digest need not be made again. One with a derived key is as good as it gets. */
  isCurrent(keyId: string): boolean {
    return keyId === this.digestKeyId || keyId === this.#writeKeyId + DERIVED_MARK
  }

  /** How everything without an address begins that is sealed now. */
  get sealedPrefix(): Buffer {
    return this.#prefix(this.#isDerived ? DERIVED_FORM : PLAIN_FORM)
  }

  /** How everything with an address does. */
  get addressedPrefix(): Buffer {
    return this.#binding === 'none' ? this.sealedPrefix : this.#prefix(BOUND_FORM)
  }

  #prefix(form: number): Buffer {
    return Buffer.concat([Buffer.of(form), Buffer.from(this.#writeKeyId, 'hex')])
  }

  hasKey(id: string): boolean {
    return this.#keys.has(toMasterKeyId(id))
  }

  seal(secret: Uint8Array, field: SealedField): Buffer {
    const nonce = randomBytes(12)
    const prefix = field.address === undefined ? this.sealedPrefix : this.addressedPrefix
    const cipher = createCipheriv('aes-256-gcm', this.#sealingKey(prefix), nonce)
    cipher.setAAD(aadOf(prefix, field))
    const text = Buffer.concat([cipher.update(secret), cipher.final()])
    return Buffer.concat([prefix, nonce, cipher.getAuthTag(), text])
  }

  /** Throws when the text was damaged, moved, sealed under a key that is not configured, or for another address. */
  open(sealed: Uint8Array, field: SealedField): Buffer {
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
    if (bytes.length < HEADER_BYTES) throw new Error('not a sealed text')
    if (field.address !== undefined && this.#binding === 'done' && !isBound(bytes)) {
      throw new Error('sealed without its address')
    }
    const decipher = createDecipheriv('aes-256-gcm', this.#sealingKey(bytes), bytes.subarray(5, 17))
    decipher.setAAD(aadOf(bytes, field))
    decipher.setAuthTag(bytes.subarray(17, 33))
    const text = decipher.update(bytes.subarray(HEADER_BYTES))
    // Compares the tag. In this mode it returns nothing: all of the text is there before.
    decipher.final()
    return text
  }

  /** The id of the master key that a text is sealed under. */
  sealedUnder(sealed: Buffer): string {
    return sealed.toString('hex', 1, 5)
  }

  /** The stored form of a generated secret of 256 bits: no slow hash is needed for those. */
  digest(
    secret: string,
    keyId = this.digestKeyId,
    /** One kind's digest is nothing to another. */
    kind: 'client-secret' | 'operator-key' = 'client-secret',
  ): Buffer {
    const { plain, forDigests } = this.#key(toMasterKeyId(keyId))
    const key = keyId.endsWith(DERIVED_MARK) ? forDigests : plain
    return createHmac('sha256', key).update(`${kind}\0`).update(secret).digest()
  }

  /** True when `secret` has this digest; the same work whether it matches or not. */
  matches(secret: string, digest: Uint8Array, keyId: string): boolean {
    if (!this.hasKey(keyId)) return false
    return timingSafeEqual(this.digest(secret, keyId), digest)
  }

  /**
   * Says that a holder of the master key wrote this row: for what is no secret, but must not be anyone else's word, such
   * as a public key. Bound to its row and column. `text` has to be one spelling of all that is to be trusted.
   */
  authenticate(text: string, field: SealedField): Buffer {
    const { forRecords } = this.#key(this.#writeKeyId)
    return Buffer.concat([Buffer.from(this.#writeKeyId, 'hex'), recordMac(forRecords, text, field)])
  }

  /** Whether `authenticate` made it, of this text and for this field, under a master key that is configured. */
  isAuthentic(authentication: Uint8Array | null, text: string, field: SealedField): boolean {
    if (authentication?.length !== RECORD_MAC_BYTES) return false
    const bytes = Buffer.from(authentication)
    const key = this.#keys.get(bytes.toString('hex', 0, 4))
    if (key === undefined) return false
    return timingSafeEqual(recordMac(key.forRecords, text, field), bytes.subarray(4))
  }

  /** Whether an authentication is under the master key that writes. */
  isOfWriteKey(authentication: Buffer): boolean {
    return authentication.toString('hex', 0, 4) === this.#writeKeyId
  }

  /**
   * The unguessable part of a link. The oldest master key makes it: a link stands in bodies that are sent again, and
   * so keeps its bytes while a new key is brought in, for as long as the old one is configured.
   */
  signLink(text: string): string {
    const { forLinks } = [...this.#keys.values()].at(-1) as MasterKey
    return createHmac('sha256', forLinks).update(text).digest('base64url')
  }

  /** Whether one of the master keys made it; the same work whether it is right or wrong. */
  isLinkSignature(text: string, signature: string): boolean {
    const given = Buffer.from(signature)
    let isRight = false
    for (const { forLinks } of this.#keys.values()) {
      // As text, so that a respelled one is a wrong one.
      const right = Buffer.from(createHmac('sha256', forLinks).update(text).digest('base64url'))
      if (given.length === right.length && timingSafeEqual(given, right)) isRight = true
    }
    return isRight
  }

  /** What the keys of a client's assertions are made of, by each master key, in their order. */
  assertionKeyBytes(clientId: string): readonly Buffer[] {
    return [...this.#keys.values()].map(({ forAssertions }) =>
      Buffer.from(
        hkdfSync('sha256', forAssertions, Buffer.alloc(0), clientId, ASSERTION_KEY_BYTES),
      ),
    )
  }

  #sealingKey(sealed: Buffer): KeyObject {
    const [form] = sealed
    if (form !== PLAIN_FORM && form !== DERIVED_FORM && form !== BOUND_FORM) {
      throw new Error('not a sealed text')
    }
    const { plain, forSealing } = this.#key(this.sealedUnder(sealed))
    return form === PLAIN_FORM ? plain : forSealing
  }

  #key(id: string): MasterKey {
    const key = this.#keys.get(id)
    if (key === undefined) throw new Error(`master key ${id} is not configured`)
    return key
  }
}

/** Whether it is sealed for one address. */
export function isBound(sealed: Uint8Array): boolean {
  return sealed[0] === BOUND_FORM
}

function toMasterKey(key: Buffer): MasterKey {
  return {
    plain: createSecretKey(key),
    forSealing: derive(key, 'paybell sealing, AES-256-GCM'),
    forDigests: derive(key, 'paybell digests, HMAC-SHA-256'),
    forLinks: derive(key, 'paybell document links, HMAC-SHA-256'),
    forRecords: derive(key, 'paybell records, HMAC-SHA-256'),
    forAssertions: derive(key, 'paybell assertions, HKDF-SHA-256'),
  }
}

/** RFC 5869. Without a salt, as a key of 256 random bits needs none (§3.1). */
function derive(key: Buffer, info: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), info, 32)))
}

function toMasterKeyId(id: string): string {
  return id.endsWith(DERIVED_MARK) ? id.slice(0, -DERIVED_MARK.length) : id
}

function recordMac(key: KeyObject, text: string, field: SealedField): Buffer {
  return createHmac('sha256', key).update(aad(field)).update('\0').update(text).digest()
}

/** Tells keys apart without telling anything about them. */
function keyId(key: Buffer): string {
  return createHash('sha256')
    .update('paybell master key id\0')
    .update(key)
    .digest('hex')
    .slice(0, 8)
}

/** Of a text that begins so. */
function aadOf(sealed: Uint8Array, field: SealedField): Buffer {
  if (!isBound(sealed)) return aad(field)
  if (field.address === undefined) throw new Error('sealed for an address')
  return Buffer.concat([aad(field), Buffer.from(`\0${field.address}`)])
}

function aad(field: SealedField): Buffer {
  return Buffer.from(`${field.column}\0${field.row}`)
}
