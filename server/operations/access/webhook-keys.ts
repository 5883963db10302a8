// The service's own keys, apart from those of tokens: they sign callbacks as `v1a`, and what the service states
// (statements, receipts, audit seals). A new key signs from its first moment; the one before signs and is published
// beside it for 7 days more. After that only its public part is left, for what it has signed.

import { createPublicKey } from 'node:crypto'
import type { JWK } from 'jose'
import { DAY_MS } from '../../core/delivery/backoff.ts'
import type { ServiceKey } from '../../core/signatures/asymmetric-signature.ts'
import { toWhpk } from '../../core/signatures/webhook-key.ts'
import {
  forgetRetiredPrivateKeys,
  replaceAuthentications,
} from '../../store/secrets/signing-keys.ts'
import type { KeyPurpose } from './key-purposes.ts'
import {
  Keyring,
  type KeyringDeps,
  rotateSigningKey,
  rotateSigningKeyIfOld,
  type Signer,
} from './keyring.ts'
import { signJws } from './sign-jws.ts'
import { authenticateKey, authenticateTrusted, isPlain, readJudgedKeys } from './trusted-keys.ts'

const OVERLAP_MS = 7 * DAY_MS
/** Receivers that hold a key of ours by hand have to change it: seldom, and with a week for it. */
const AGE_MS_MAX = 90 * DAY_MS
/** 25 years of keys that are replaced by themselves. */
const RETIRED_SHOWN_MAX = 100

export const WEBHOOK_KEYS: KeyPurpose = {
  table: 'webhook_keys',
  object: 'webhook-key',
  overlapMs: () => OVERLAP_MS,
  overlapMsMax: OVERLAP_MS,
  signsInOverlap: true,
  keepsRevoked: true,
}

/** A public key as it is published. */
export type PublishedKey = JWK & { kid: string; whpk: string }

export interface PublishedKeys {
  /** Those that sign, the newest first. */
  keys: readonly PublishedKey[]
  /** Those that sign no more: for receipts and seals of their time, not for callbacks. */
  retired: readonly (PublishedKey & { retiredAt: Date })[]
  /** Those that were revoked: their ids alone, because nothing may be verified with them. */
  revoked: readonly { kid: string; revokedAt: Date }[]
}

export class WebhookKeys {
  readonly #keyring: Keyring

  constructor(deps: KeyringDeps) {
    this.#keyring = new Keyring(deps, WEBHOOK_KEYS)
  }

  /** All that sign callbacks now, the newest first; with `atMs`, those of them that signed then. */
  async signers(atMs = Number.POSITIVE_INFINITY): Promise<readonly Signer[]> {
    const signers = await this.#keyring.signers()
    return signers.filter(({ createdAtMs }) => createdAtMs <= atMs)
  }

  async published(): Promise<PublishedKeys> {
    const keys = await this.#keyring.publicKeys()
    const ended = await this.#keyring.endedKeys()
    const retired = ended
      .slice(0, RETIRED_SHOWN_MAX)
      .map(({ jwk, endedAt }) => ({ ...toPublished(jwk), retiredAt: endedAt }))
    const revoked = await this.#keyring.revokedKeys()
    return { keys: keys.map(toPublished), retired, revoked }
  }

  /** Makes what was just done known here at once. */
  reload(): Promise<void> {
    return this.#keyring.reload()
  }

  /** How many rows are not the service's own; should be 0. */
  countUntrusted(): Promise<number> {
    return this.#keyring.countUntrusted()
  }

  /** Of now and of before, the newest first. */
  async publicKeys(): Promise<readonly ServiceKey[]> {
    const { keys, retired } = await this.published()
    return [
      ...keys.map((key, at) => toServiceKey(key, at === 0 ? 'newest' : 'overlap')),
      ...retired.map((key) => toServiceKey(key, 'retired')),
    ]
  }

  /**
   * A compact JWS of `claims` under the newest key. `typ` names the kind of statement, such as
   * `paybell-receipt+jws`; no kind can be taken for another, nor for an access token, which other keys sign.
   */
  async signStatement(typ: string, claims: object): Promise<string> {
    return signJws(await this.#keyring.signer(), typ, claims)
  }
}

/** A new key signs from now on, in every process within 5 seconds; returns its id. */
export function rotateWebhookKey(deps: KeyringDeps): Promise<string> {
  return rotateSigningKey(deps, WEBHOOK_KEYS)
}

/**
 * A retired key that nothing proves is trusted from now on, because an operator names it by its public part and has the
 * master key. Null when the database has no such key, or several. Never done by itself: whoever writes to the database
 * could bring it about.
 */
export async function adoptWebhookKey(
  { pool, sealer }: Pick<KeyringDeps, 'pool' | 'sealer'>,
  whpk: string,
): Promise<string | null> {
  const { table } = WEBHOOK_KEYS
  const { untrusted } = await readJudgedKeys(pool, sealer, table)
  const found = untrusted.filter(
    (key) => key.verifiesUntil !== null && isPlain(key) && toWhpk(String(key.publicJwk.x)) === whpk,
  )
  const [before] = found
  if (before === undefined || found.length > 1) return null
  const after = authenticateKey(sealer, table, before)
  await replaceAuthentications(pool, table, [{ before, after }])
  return before.kid
}

/**
 * What recurs: a new key when the one that signs is 90 days old; the private parts of those that are over go, after
 * what they alone prove was authenticated.
 */
export async function tendWebhookKeys(deps: KeyringDeps): Promise<boolean> {
  await authenticateTrusted(deps.pool, deps.sealer, WEBHOOK_KEYS.table)
  await forgetRetiredPrivateKeys(deps.pool, new Date(deps.clock.nowMs()))
  return rotateSigningKeyIfOld(deps, WEBHOOK_KEYS, AGE_MS_MAX)
}

function toPublished(jwk: JWK): PublishedKey {
  return { ...jwk, kid: jwk.kid as string, whpk: toWhpk(jwk.x as string) }
}

function toServiceKey({ kid, x }: PublishedKey, state: ServiceKey['state']): ServiceKey {
  const key = { kty: 'OKP', crv: 'Ed25519', x: x as string }
  return { kid, key: createPublicKey({ key, format: 'jwk' }), state }
}
