// Keys that sign and verify, those of access tokens or those of webhooks, as one process holds them. They live
// in the database, so that all processes agree: the first one to start makes the first key, under a lock. A key
// is only found by its id in this memory; nothing in a token can point elsewhere.

import { createPrivateKey } from 'node:crypto'
import { type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'
import type { SigningPair } from '../../core/asymmetric-signature.ts'
import { Remembered } from '../../core/remembered.ts'
import { TOKEN_ALGORITHM } from '../../core/token.ts'
import { type Db, inTransaction } from '../../store/db.ts'
import type { SealedPlace } from '../../store/sealing.ts'
import {
  insertSigningKey,
  isSigningKeyOlder,
  type KeyTable,
  lockSigningKeys,
  type NewSigningKey,
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
/** Each costs a signature and 92 bytes of every callback; more come only of rotations by hand. */
const SIGNERS_BESIDE_MAX = 3

export type KeyringDeps = Pick<Deps, 'pool' | 'clock' | 'sealer' | 'newId' | 'config'>

/** What the keys of a table are for. */
export interface KeyPurpose {
  table: KeyTable
  /** How long a retired key goes on verifying. */
  overlapMs(config: KeyringDeps['config']): number
  /** Whether a retired key signs beside the new one for as long as it verifies. */
  signsInOverlap: boolean
}

/** Tokens of a retired key live on until they expire. */
export const TOKEN_KEYS: KeyPurpose = {
  table: 'signing_keys',
  overlapMs: ({ tokenTtlSeconds }) => tokenTtlSeconds * 1_000 + RETIRED_KEY_MARGIN_MS,
  signsInOverlap: false,
}

/** A key that signs, imported once for all that it signs. */
export interface Signer extends SigningPair {
  createdAtMs: number
}

interface Keys {
  signer: Signer
  /** The signer, then those that sign beside it. */
  signers: readonly Signer[]
  verifiers: ReadonlyMap<string, { key: CryptoKey; jwk: JWK }>
}

export class Keyring {
  readonly #deps: KeyringDeps
  readonly #purpose: KeyPurpose
  readonly #keys: Remembered<void, Keys>

  constructor(deps: KeyringDeps, purpose: KeyPurpose = TOKEN_KEYS) {
    this.#deps = deps
    this.#purpose = purpose
    const monotonicMs = () => deps.clock.monotonicMs()
    this.#keys = new Remembered({ keysMax: 1, expiry: { monotonicMs, ageMsMax: RELOAD_MS } })
  }

  async signer(): Promise<Signer> {
    return (await this.#read()).signer
  }

  /** All that sign now, the newest first; those of before while the database is away. */
  async signers(): Promise<readonly Signer[]> {
    return (await this.#lasting()).signers
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
    const kid = await rotateSigningKey(this.#deps, this.#purpose)
    await this.#read(0)
    return kid
  }

  #read(ageMsMax = RELOAD_MS): Promise<Keys> {
    return this.#keys.get(undefined, () => readKeys(this.#deps, this.#purpose), ageMsMax)
  }

  /** Keeps the old keys while the database is away, because a signature does not depend on it. */
  #lasting(): Promise<Keys> {
    const old = this.#keys.last()
    return old === undefined ? this.#read() : this.#read().catch(() => old)
  }
}

/** A new key once the one that signs is older than `ageMsMax`; several processes agree on one. */
export async function rotateSigningKeyIfOld(
  deps: KeyringDeps,
  purpose: KeyPurpose,
  ageMsMax: number,
): Promise<boolean> {
  const { table } = purpose
  const before = new Date(deps.clock.nowMs() - ageMsMax)
  if (!(await isSigningKeyOlder(deps.pool, table, before))) return false
  const key = await generateSigningKey(deps, table)
  return inTransaction(deps.pool, async (db) => {
    await lockSigningKeys(db)
    // Another process may have made one while we waited for the lock.
    if (!(await isSigningKeyOlder(db, table, before))) return false
    await replaceSigningKey(deps, db, purpose, key)
    return true
  })
}

/** Makes a new signing key and retires the others; returns its id. */
export async function rotateSigningKey(deps: KeyringDeps, purpose: KeyPurpose): Promise<string> {
  const key = await generateSigningKey(deps, purpose.table)
  await inTransaction(deps.pool, async (db) => {
    await lockSigningKeys(db)
    await replaceSigningKey(deps, db, purpose, key)
  })
  return key.kid
}

async function replaceSigningKey(
  deps: KeyringDeps,
  db: Db,
  { table, overlapMs }: KeyPurpose,
  key: NewSigningKey,
): Promise<void> {
  const now = new Date(deps.clock.nowMs())
  await retireSigningKeys(db, table, new Date(now.getTime() + overlapMs(deps.config)))
  await insertSigningKey(db, table, key, now)
}

async function readKeys(deps: KeyringDeps, purpose: KeyPurpose): Promise<Keys> {
  const { table } = purpose
  const now = new Date(deps.clock.nowMs())
  let stored = await readSigningKeys(deps.pool, table, now)
  if (!stored.some(isSigning)) {
    const key = await generateSigningKey(deps, table)
    stored = await inTransaction(deps.pool, async (db) => {
      await lockSigningKeys(db)
      // Another process may have made a key while we waited for the lock.
      const found = await readSigningKeys(db, table, now)
      if (found.some(isSigning)) return found
      await insertSigningKey(db, table, key, now)
      return readSigningKeys(db, table, now)
    })
  }
  return toKeys(deps, purpose, stored)
}

async function toKeys(
  deps: KeyringDeps,
  { table, signsInOverlap }: KeyPurpose,
  stored: readonly StoredSigningKey[],
): Promise<Keys> {
  const newest = stored.find(isSigning)
  const signer = newest && toSigner(deps, table, newest)
  if (!signer) throw new Error('there is no key that signs')
  const others = signsInOverlap ? stored.filter((key) => key !== newest) : []
  const beside = others
    .slice(0, SIGNERS_BESIDE_MAX)
    .flatMap((key) => toSigner(deps, table, key) ?? [])
  const verifiers = new Map<string, { key: CryptoKey; jwk: JWK }>()
  for (const { kid, publicJwk } of stored) {
    const jwk = publicJwk as JWK
    verifiers.set(kid, { key: await importKey(jwk), jwk })
  }
  return { signer, signers: [signer, ...beside], verifiers }
}

function toSigner(
  { sealer }: KeyringDeps,
  table: KeyTable,
  { kid, sealedPrivateKey, createdAt }: StoredSigningKey,
): Signer | null {
  if (sealedPrivateKey === null) return null
  const opened = sealer.open(sealedPrivateKey, placeOf(table, kid))
  const key = createPrivateKey({ key: JSON.parse(opened.toString()), format: 'jwk' })
  return { kid, key, createdAtMs: createdAt.getTime() }
}

async function generateSigningKey(deps: KeyringDeps, table: KeyTable) {
  const pair = await generateKeyPair(TOKEN_ALGORITHM, { crv: 'Ed25519', extractable: true })
  const kid = deps.newId()
  const publicJwk = {
    ...(await exportJWK(pair.publicKey)),
    kid,
    use: 'sig',
    alg: TOKEN_ALGORITHM,
  }
  const secret = Buffer.from(JSON.stringify(await exportJWK(pair.privateKey)))
  return { kid, publicJwk, sealedPrivateKey: deps.sealer.seal(secret, placeOf(table, kid)) }
}

async function importKey(jwk: JWK): Promise<CryptoKey> {
  return (await importJWK(jwk, TOKEN_ALGORITHM)) as CryptoKey
}

function isSigning(key: StoredSigningKey): boolean {
  return key.verifiesUntil === null
}

function placeOf(table: KeyTable, kid: string): SealedPlace {
  return { column: `${table}.private_key`, row: kid }
}
