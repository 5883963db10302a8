// The keys that sign and verify access tokens, as one process holds them. They live in the database, so
// that all processes agree: the first one to start makes the first key, under a lock. A key is only
// found by its id in this memory; nothing in a token can point elsewhere.

import { createPrivateKey, type KeyObject } from 'node:crypto'
import { type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'
import { Remembered } from '../../core/remembered.ts'
import { TOKEN_ALGORITHM } from '../../core/token.ts'
import { inTransaction } from '../../store/db.ts'
import type { SealedPlace } from '../../store/sealing.ts'
import {
  insertSigningKey,
  isSigningKeyOlder,
  lockSigningKeys,
  readSigningKeys,
  retireSigningKeys,
  type StoredSigningKey,
} from '../../store/signing-keys.ts'
import type { Deps } from './deps.ts'

/** How long other processes may still sign with a retired key, until they have read the new one. */
const RELOAD_MS = 60_000
/** Tokens with an unknown key id cause at most one query in this time. */
const UNKNOWN_KEY_RELOAD_MS = 1_000
/** Added to a token's life, for late reloads and for clocks that disagree. */
const RETIRED_KEY_MARGIN_MS = 10 * 60_000

export type KeyringDeps = Pick<Deps, 'pool' | 'clock' | 'sealer' | 'newId' | 'config'>

/** The key that signs, imported once for all the tokens that it signs. */
export interface Signer {
  kid: string
  key: KeyObject
}

interface Keys {
  signer: Signer
  verifiers: ReadonlyMap<string, { key: CryptoKey; jwk: JWK }>
}

export class Keyring {
  readonly #deps: KeyringDeps
  readonly #keys: Remembered<void, Keys>

  constructor(deps: KeyringDeps) {
    this.#deps = deps
    const monotonicMs = () => deps.clock.monotonicMs()
    this.#keys = new Remembered({ keysMax: 1, expiry: { monotonicMs, ageMsMax: RELOAD_MS } })
  }

  async signer(): Promise<Signer> {
    return (await this.#read()).signer
  }

  /** The key of this id, or null when no process has ever made it or its time is over. */
  async verifier(kid: string): Promise<CryptoKey | null> {
    const known = (await this.#lasting()).verifiers.get(kid)
    if (known !== undefined) return known.key
    // Another process may have rotated a moment ago.
    return (await this.#read(UNKNOWN_KEY_RELOAD_MS)).verifiers.get(kid)?.key ?? null
  }

  /** The public keys as RFC 7517 shows them. */
  async publicKeys(): Promise<readonly JWK[]> {
    return [...(await this.#read()).verifiers.values()].map(({ jwk }) => jwk)
  }

  /** A new key signs from now on; the old ones verify until no token of theirs can be alive. */
  async rotate(): Promise<string> {
    const kid = await rotateSigningKey(this.#deps)
    await this.#read(0)
    return kid
  }

  #read(ageMsMax = RELOAD_MS): Promise<Keys> {
    return this.#keys.get(undefined, () => readKeys(this.#deps), ageMsMax)
  }

  /** Keeps the old keys while the database is away, because a signature does not depend on it. */
  #lasting(): Promise<Keys> {
    const old = this.#keys.last()
    return old === undefined ? this.#read() : this.#read().catch(() => old)
  }
}

/** A new key once the one that signs is older than `ageMsMax`; several processes agree on one. */
export async function rotateSigningKeyIfOld(deps: KeyringDeps, ageMsMax: number): Promise<boolean> {
  const before = new Date(deps.clock.nowMs() - ageMsMax)
  if (!(await isSigningKeyOlder(deps.pool, before))) return false
  await rotateSigningKey(deps)
  return true
}

/** Makes a new signing key and retires the others; returns its id. */
export async function rotateSigningKey(deps: KeyringDeps): Promise<string> {
  const now = new Date(deps.clock.nowMs())
  const lifeMs = deps.config.tokenTtlSeconds * 1_000 + RETIRED_KEY_MARGIN_MS
  const key = await generateSigningKey(deps)
  await inTransaction(deps.pool, async (db) => {
    await lockSigningKeys(db)
    await retireSigningKeys(db, new Date(now.getTime() + lifeMs))
    await insertSigningKey(db, key, now)
  })
  return key.kid
}

async function readKeys(deps: KeyringDeps): Promise<Keys> {
  const now = new Date(deps.clock.nowMs())
  let stored = await readSigningKeys(deps.pool, now)
  if (!stored.some(isSigning)) {
    const key = await generateSigningKey(deps)
    stored = await inTransaction(deps.pool, async (db) => {
      await lockSigningKeys(db)
      // Another process may have made a key while we waited for the lock.
      const found = await readSigningKeys(db, now)
      if (found.some(isSigning)) return found
      await insertSigningKey(db, key, now)
      return readSigningKeys(db, now)
    })
  }
  return toKeys(deps, stored)
}

async function toKeys(deps: KeyringDeps, stored: readonly StoredSigningKey[]): Promise<Keys> {
  const newest = stored.find(isSigning)
  if (newest === undefined) throw new Error('there is no key that signs')
  const sealed = deps.sealer.open(newest.sealedPrivateKey, placeOf(newest.kid))
  const key = createPrivateKey({ key: JSON.parse(sealed.toString()), format: 'jwk' })
  const signer = { kid: newest.kid, key }
  const verifiers = new Map<string, { key: CryptoKey; jwk: JWK }>()
  for (const { kid, publicJwk } of stored) {
    const jwk = publicJwk as JWK
    verifiers.set(kid, { key: await importKey(jwk), jwk })
  }
  return { signer, verifiers }
}

async function generateSigningKey(deps: KeyringDeps) {
  const pair = await generateKeyPair(TOKEN_ALGORITHM, { crv: 'Ed25519', extractable: true })
  const kid = deps.newId()
  const publicJwk = {
    ...(await exportJWK(pair.publicKey)),
    kid,
    use: 'sig',
    alg: TOKEN_ALGORITHM,
  }
  const secret = Buffer.from(JSON.stringify(await exportJWK(pair.privateKey)))
  return { kid, publicJwk, sealedPrivateKey: deps.sealer.seal(secret, placeOf(kid)) }
}

async function importKey(jwk: JWK): Promise<CryptoKey> {
  return (await importJWK(jwk, TOKEN_ALGORITHM)) as CryptoKey
}

function isSigning(key: StoredSigningKey): boolean {
  return key.verifiesUntil === null
}

function placeOf(kid: string): SealedPlace {
  return { column: 'signing_keys.private_key', row: kid }
}
