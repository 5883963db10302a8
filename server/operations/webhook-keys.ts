// The service's own keys, apart from those of tokens: they sign callbacks as `v1a`, and what the service states
// (statements, receipts, audit seals). A new key signs from its first moment; the one before signs and is published
// beside it for 7 days more. After that only its public part is left, for what it has signed.

import { createPublicKey } from 'node:crypto'
import type { JWK } from 'jose'
import type { ServiceKey } from '../core/asymmetric-signature.ts'
import { DAY_MS } from '../core/backoff.ts'
import { Remembered } from '../core/remembered.ts'
import { toWhpk } from '../core/webhook-key.ts'
import { forgetRetiredPrivateKeys, readRetiredWebhookKeys } from '../store/webhook-keys.ts'
import {
  type KeyPurpose,
  Keyring,
  type KeyringDeps,
  rotateSigningKey,
  rotateSigningKeyIfOld,
  type Signer,
} from './parts/keyring.ts'
import { signJws } from './parts/sign-jws.ts'

const OVERLAP_MS = 7 * DAY_MS
/** Receivers that hold a key of ours by hand have to change it: seldom, and with a week for it. */
const AGE_MS_MAX = 90 * DAY_MS
/** 25 years of keys that are replaced by themselves. */
const RETIRED_SHOWN_MAX = 100
const RETIRED_AGE_MS_MAX = 60_000

const WEBHOOK_KEYS: KeyPurpose = {
  table: 'webhook_keys',
  overlapMs: () => OVERLAP_MS,
  signsInOverlap: true,
}

/** A public key as it is published. */
export type PublishedKey = JWK & { kid: string; whpk: string }

export interface PublishedKeys {
  /** Those that sign, the newest first. */
  keys: readonly PublishedKey[]
  /** Those that sign no more: for receipts and seals of their time, not for callbacks. */
  retired: readonly (PublishedKey & { retiredAt: Date })[]
}

export class WebhookKeys {
  readonly #deps: KeyringDeps
  readonly #keyring: Keyring
  readonly #retired: Remembered<void, PublishedKeys['retired']>

  constructor(deps: KeyringDeps) {
    this.#deps = deps
    this.#keyring = new Keyring(deps, WEBHOOK_KEYS)
    const monotonicMs = () => deps.clock.monotonicMs()
    const expiry = { monotonicMs, ageMsMax: RETIRED_AGE_MS_MAX }
    this.#retired = new Remembered({ keysMax: 1, expiry })
  }

  /** All that sign callbacks now, the newest first; with `atMs`, those of them that signed then. */
  async signers(atMs = Number.POSITIVE_INFINITY): Promise<readonly Signer[]> {
    const signers = await this.#keyring.signers()
    return signers.filter(({ createdAtMs }) => createdAtMs <= atMs)
  }

  async published(): Promise<PublishedKeys> {
    const [keys, retired] = await Promise.all([
      this.#keyring.publicKeys(),
      this.#retired.get(undefined, () => this.#readRetired()),
    ])
    return { keys: keys.map(toPublished), retired }
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

  async #readRetired(): Promise<PublishedKeys['retired']> {
    const now = new Date(this.#deps.clock.nowMs())
    const keys = await readRetiredWebhookKeys(this.#deps.pool, now, RETIRED_SHOWN_MAX)
    return keys.map(({ publicJwk, retiredAt }) => ({
      ...toPublished(publicJwk as JWK),
      retiredAt,
    }))
  }
}

/** A new key signs from now on, in every process within a minute; returns its id. */
export function rotateWebhookKey(deps: KeyringDeps): Promise<string> {
  return rotateSigningKey(deps, WEBHOOK_KEYS)
}

/** What recurs: a new key when the one that signs is 90 days old; the private parts of those that are over go. */
export async function tendWebhookKeys(deps: KeyringDeps): Promise<boolean> {
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
