// Keys that sign and verify, those of access tokens or those of webhooks, as one process holds them. They live
// in the database, so that all processes agree: the first one to start makes the first key, under a lock. A key
// is only found by its id in this memory; nothing in a token can point elsewhere. Of the rows there, only those
// count that are the service's own (trusted-keys.ts).

import { type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'
import { Remembered } from '../../core/plain/remembered.ts'
import { TOKEN_ALGORITHM } from '../../core/proofs/token.ts'
import type { SigningPair } from '../../core/signatures/asymmetric-signature.ts'
import { endOfKey } from '../../core/signatures/key-life.ts'
import { type Db, inTransaction } from '../../store/connection/db.ts'
import {
  deleteSigningKey,
  insertSigningKey,
  type KeyTable,
  lockSigningKeys,
  type RevokedKey,
  readRevokedWebhookKeys,
  retireSigningKeys,
  type StoredSigningKey,
  saveRevokedWebhookKey,
} from '../../store/secrets/signing-keys.ts'
import type { Audit } from '../shared/audit-trail.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound } from '../shared/service-errors.ts'
import { type KeyPurpose, TOKEN_KEYS } from './key-purposes.ts'
import { authenticateKey, openPrivateKey, privateFieldOf, readJudgedKeys } from './trusted-keys.ts'

/** A key that was made or revoked in another process is known here after this time, well within the promised 5 seconds. */
const RELOAD_MS = 4_000
/** From this age on the keys are read again, while those who ask go on with what is known. */
const FRESH_MS = 2_000
/** Tokens with an unknown key id cause at most one query in this time. */
const UNKNOWN_KEY_RELOAD_MS = 1_000
/** Each costs a signature and 92 bytes of every callback; more come only of rotations by hand. */
const SIGNERS_BESIDE_MAX = 3

export type KeyringDeps = Pick<
  Deps,
  'pool' | 'clock' | 'sealer' | 'newId' | 'config' | 'onUntrustedKeys'
>

/** A key that signs, imported once for all that it signs. */
export interface Signer extends SigningPair {
  createdAtMs: number
}

interface Keys {
  signer: Signer
  /** The signer, then those that sign beside it. */
  signers: readonly Signer[]
  verifiers: ReadonlyMap<string, { key: CryptoKey; jwk: JWK }>
  /** Those whose end has come, the newest first. */
  ended: readonly EndedKey[]
  revoked: readonly RevokedKey[]
  untrusted: readonly string[]
}

export interface EndedKey {
  jwk: JWK
  endedAt: Date
}

/** A key that is the service's own, with the end that it has, whatever its row says. */
interface OwnKey extends StoredSigningKey {
  end: Date | null
  isOver: boolean
}

export class Keyring {
  readonly #deps: KeyringDeps
  readonly #purpose: KeyPurpose
  readonly #keys: Remembered<void, Keys>
  #untrusted = ''

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
    const kept = (await this.#lasting()).verifiers.get(kid)
    if (kept !== undefined) return kept.key
    // Another process may have rotated a moment ago.
    return (await this.#read(UNKNOWN_KEY_RELOAD_MS)).verifiers.get(kid)?.key ?? null
  }

  /** The public keys as RFC 7517 shows them. */
  async publicKeys(): Promise<readonly JWK[]> {
    return [...(await this.#read()).verifiers.values()].map(({ jwk }) => jwk)
  }

  /** Those that verify no more what is signed now. */
  async endedKeys(): Promise<readonly EndedKey[]> {
    return (await this.#read()).ended
  }

  /** Those that were revoked, the newest first. */
  async revokedKeys(): Promise<readonly RevokedKey[]> {
    return (await this.#read()).revoked
  }

  /** How many rows that would be in use are not the service's own; should be 0. */
  async countUntrusted(): Promise<number> {
    return (await this.#read()).untrusted.length
  }

  /** A new key signs from now on; the old ones verify until no token of theirs can be alive. */
  async rotate(): Promise<string> {
    const kid = await rotateSigningKey(this.#deps, this.#purpose)
    await this.reload()
    return kid
  }

  /** Makes what was just done known here at once. */
  async reload(): Promise<void> {
    await this.#read(0)
  }

  #read(ageMsMax = RELOAD_MS): Promise<Keys> {
    const ask = () => this.#ask()
    const keys = this.#keys.get(undefined, ask, ageMsMax)
    // Those who wait for `keys` hear of its failure.
    this.#keys.get(undefined, ask, FRESH_MS).catch(() => {})
    return keys
  }

  async #ask(): Promise<Keys> {
    const keys = await readKeys(this.#deps, this.#purpose)
    const untrusted = keys.untrusted.join()
    // Once, and not every minute.
    if (untrusted !== this.#untrusted) {
      this.#deps.onUntrustedKeys?.(this.#purpose.table, keys.untrusted)
    }
    this.#untrusted = untrusted
    return keys
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
  const isOld = async (db: Db) => {
    const newest = (await readOwnKeys(deps, db, purpose)).own.find(isSigning)
    return newest !== undefined && newest.createdAt.getTime() < deps.clock.nowMs() - ageMsMax
  }
  if (!(await isOld(deps.pool))) return false
  return inTransaction(deps.pool, async (db) => {
    await lockSigningKeys(db)
    // Another process may have made one while we waited for the lock.
    if (!(await isOld(db))) return false
    await replaceSigningKey(deps, db, purpose)
    return true
  })
}

/** Makes a new signing key and retires the others; returns its id. */
export async function rotateSigningKey(deps: KeyringDeps, purpose: KeyPurpose): Promise<string> {
  return inTransaction(deps.pool, async (db) => {
    await lockSigningKeys(db)
    return replaceSigningKey(deps, db, purpose)
  })
}

/**
 * A key is trusted and published no more, with all that it has signed. If it is the one that signs, a new one does from
 * now on; returns the id of that, or null.
 */
export async function revokeSigningKey(
  deps: KeyringDeps,
  purpose: KeyPurpose,
  kid: string,
  audit: Audit,
): Promise<string | null> {
  return inTransaction(deps.pool, async (db) => {
    await lockSigningKeys(db)
    const { own } = await readOwnKeys(deps, db, purpose)
    const isTheSigner = own.find(isSigning)?.kid === kid
    const newKid = isTheSigner ? await replaceSigningKey(deps, db, purpose) : null
    if (!(await deleteSigningKey(db, purpose.table, kid))) throw notFound()
    if (purpose.keepsRevoked) {
      await saveRevokedWebhookKey(db, { kid, revokedAt: new Date(deps.clock.nowMs()) })
    }
    await audit(db, `${purpose.object}:${kid}`)
    return newKid
  })
}

async function replaceSigningKey(
  deps: KeyringDeps,
  db: Db,
  { table, overlapMs }: KeyPurpose,
): Promise<string> {
  const until = new Date(deps.clock.nowMs() + overlapMs(deps.config))
  await retireSigningKeys(db, table, until)
  return makeSigningKey(deps, db, table)
}

async function readKeys(deps: KeyringDeps, purpose: KeyPurpose): Promise<Keys> {
  let found = await readOwnKeys(deps, deps.pool, purpose)
  if (!found.own.some(isSigning)) {
    found = await inTransaction(deps.pool, async (db) => {
      await lockSigningKeys(db)
      // Another process may have made a key while we waited for the lock.
      const again = await readOwnKeys(deps, db, purpose)
      if (again.own.some(isSigning)) return again
      assertNoneUnreadable(deps, again.untrusted)
      await makeSigningKey(deps, db, purpose.table)
      return readOwnKeys(deps, db, purpose)
    })
  }
  const revoked = purpose.keepsRevoked ? await readRevokedWebhookKeys(deps.pool) : []
  return toKeys(deps, purpose, { ...found, revoked })
}

interface FoundKeys {
  own: readonly OwnKey[]
  untrusted: readonly StoredSigningKey[]
}

async function readOwnKeys(
  { sealer, clock }: KeyringDeps,
  db: Db,
  { table, overlapMsMax }: KeyPurpose,
): Promise<FoundKeys> {
  const { trusted, untrusted } = await readJudgedKeys(db, sealer, table)
  const nowMs = clock.nowMs()
  const own = trusted.map((key) => {
    const end = endOfKey(key, trusted, overlapMsMax)
    return { ...key, end, isOver: end !== null && end.getTime() <= nowMs }
  })
  return { own, untrusted }
}

/** Then a key is there, for those who have its master key: another one would not help them. */
function assertNoneUnreadable(
  { sealer }: KeyringDeps,
  untrusted: readonly StoredSigningKey[],
): void {
  for (const { verifiesUntil, sealedPrivateKey } of untrusted) {
    if (verifiesUntil !== null || sealedPrivateKey === null) continue
    const id = sealer.sealedUnder(sealedPrivateKey)
    if (!sealer.hasKey(id)) throw new Error(`master key ${id} is not configured`)
  }
}

async function toKeys(
  deps: KeyringDeps,
  { table, signsInOverlap }: KeyPurpose,
  { own, untrusted, revoked }: FoundKeys & { revoked: readonly RevokedKey[] },
): Promise<Keys> {
  const current = own.filter(({ isOver }) => !isOver)
  const newest = current.find(isSigning)
  const signer = newest && toSigner(deps, table, newest)
  if (!signer) throw new Error('there is no key that signs')
  const others = signsInOverlap ? current.filter((key) => key !== newest) : []
  const beside = others
    .slice(0, SIGNERS_BESIDE_MAX)
    .flatMap((key) => toSigner(deps, table, key) ?? [])
  const verifiers = new Map<string, { key: CryptoKey; jwk: JWK }>()
  for (const { kid, publicJwk } of current) {
    const jwk = publicJwk as JWK
    verifiers.set(kid, { key: await importKey(jwk), jwk })
  }
  const ended = own
    .filter(({ isOver }) => isOver)
    .map(({ publicJwk, end }) => ({ jwk: publicJwk as JWK, endedAt: end as Date }))
  return {
    signer,
    signers: [signer, ...beside],
    verifiers,
    ended,
    revoked,
    untrusted: untrusted.map(({ kid }) => kid),
  }
}

function toSigner(
  { sealer }: KeyringDeps,
  table: KeyTable,
  { kid, sealedPrivateKey, createdAt }: OwnKey,
): Signer | null {
  if (sealedPrivateKey === null) return null
  const key = openPrivateKey(sealer, table, kid, sealedPrivateKey)
  return { kid, key, createdAtMs: createdAt.getTime() }
}

/** Under the lock: its time is then later than those of the keys before it. */
async function makeSigningKey(deps: KeyringDeps, db: Db, table: KeyTable): Promise<string> {
  const pair = await generateKeyPair(TOKEN_ALGORITHM, { crv: 'Ed25519', extractable: true })
  const kid = deps.newId()
  const publicJwk = {
    ...(await exportJWK(pair.publicKey)),
    kid,
    use: 'sig',
    alg: TOKEN_ALGORITHM,
  }
  const secret = Buffer.from(JSON.stringify(await exportJWK(pair.privateKey)))
  const createdAt = new Date(deps.clock.nowMs())
  await insertSigningKey(db, table, {
    kid,
    publicJwk,
    sealedPrivateKey: deps.sealer.seal(secret, privateFieldOf(table, kid)),
    createdAt,
    authentication: authenticateKey(deps.sealer, table, { kid, publicJwk, createdAt }),
  })
  return kid
}

async function importKey(jwk: JWK): Promise<CryptoKey> {
  return (await importJWK(jwk, TOKEN_ALGORITHM)) as CryptoKey
}

function isSigning({ verifiesUntil, isOver }: OwnKey): boolean {
  return verifiesUntil === null && !isOver
}
