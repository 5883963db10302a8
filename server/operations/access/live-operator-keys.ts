// Verifies operators' keys. The live keys are kept in memory for 2 seconds, so a revoked one stops
// working well within the promised 5, in every process; a wrong key costs no query of its own.

import { hash, timingSafeEqual } from 'node:crypto'
import { BoundedMap } from '../../core/plain/bounded-map.ts'
import { FIRST_OPERATOR, type Operator } from '../../core/plain/operator.ts'
import { Remembered } from '../../core/plain/remembered.ts'
import {
  type LiveKey,
  readLiveKeys,
  replaceKeyDigest,
  touchKey,
} from '../../store/secrets/operator-keys.ts'
import type { Deps } from '../shared/deps.ts'

const KEPT_MS = 2_000
/** An unknown key may be new in another process: the keys are read again for it, this often at most. */
const ASKED_AGAIN_MS = 250
const TOUCHED_EVERY_MS = 60_000
/** Slightly more than two for each key that can be live. */
const REMEMBERED_MAX = 250

/** The prefix lets people and scanners recognise a key that leaked. */
export const KEY_PREFIX = 'pbk_'
const KEY = /^pbk_[\w-]{43}$/

type KeysDeps = Pick<Deps, 'pool' | 'clock' | 'config' | 'sealer'>

export interface Identity {
  operator: Operator
  /** Null for the key of PAYBELL_OPERATOR_KEY. */
  keyId: string | null
}

const FIRST: Identity = { operator: FIRST_OPERATOR, keyId: null }

export class OperatorKeys {
  readonly #deps: KeysDeps
  readonly #firstDigest: Buffer | null
  /**
   * Digests of keys that were right, so that a feeder's key is not hashed for each call. The digests are
   * still compared with the current live keys. A guess finds nothing here and learns nothing by timing: a
   * Map looks a text up by a seeded hash of the whole text.
   */
  readonly #digests = new BoundedMap<string, Buffer>(REMEMBERED_MAX)
  readonly #touchedAtMs = new BoundedMap<string, number>(REMEMBERED_MAX)
  readonly #liveKeys: Remembered<void, readonly LiveKey[]>

  constructor(deps: KeysDeps) {
    this.#deps = deps
    const { operatorKey } = deps.config
    this.#firstDigest = operatorKey === null ? null : sha256(operatorKey)
    const monotonicMs = () => deps.clock.monotonicMs()
    this.#liveKeys = new Remembered({ keysMax: 1, expiry: { monotonicMs, ageMsMax: KEPT_MS } })
  }

  /** The operator with this key; null when there is none. */
  async verify(token: string): Promise<Operator | null> {
    return (await this.identify(token))?.operator ?? null
  }

  /** `verify` without a promise; null where the key was not seen yet, or the keys have to be read first. */
  findKnown(token: string): Operator | null {
    // A guess is never remembered, and so is hashed no more often for this.
    if (!this.#digests.has(token)) return null
    if (this.#isFirst(token)) return FIRST.operator
    const keys = this.#liveKeys.look()
    return keys === undefined ? null : (this.#use(token, keys)?.operator ?? null)
  }

  /** The operator, and which key it is. */
  async identify(token: string): Promise<Identity | null> {
    if (this.#isFirst(token)) return FIRST
    if (!KEY.test(token)) return null
    return (
      this.#use(token, await this.#readLiveKeys(KEPT_MS)) ??
      this.#use(token, await this.#readLiveKeys(ASKED_AGAIN_MS))
    )
  }

  #use(token: string, keys: readonly LiveKey[]): Identity | null {
    const key = this.#match(token, keys)
    if (key === null) return null
    this.#noteUse(token, key)
    return { operator: { actor: key.name, role: key.role }, keyId: key.id }
  }

  /** A key was made or revoked here. */
  forget(): void {
    this.#liveKeys.forget()
  }

  #isFirst(token: string): boolean {
    if (this.#firstDigest === null) return false
    // Texts of any length are compared in the same time by comparing what they hash to.
    const digest = this.#digests.get(token) ?? sha256(token)
    if (!timingSafeEqual(digest, this.#firstDigest)) return false
    this.#remember(token, digest)
    return true
  }

  #match(token: string, keys: readonly LiveKey[]): LiveKey | null {
    const digests = new Map<string, Buffer>()
    let match: LiveKey | null = null
    // All are compared, also after a match: the time does not show which one it was.
    for (const key of keys) {
      const { masterKeyId } = key
      if (!this.#deps.sealer.hasKey(masterKeyId)) continue
      const cached = digests.get(masterKeyId) ?? this.#digests.get(`${masterKeyId} ${token}`)
      const digest = cached ?? this.#digest(token, masterKeyId)
      digests.set(masterKeyId, digest)
      if (timingSafeEqual(digest, key.digest)) match = key
    }
    if (match !== null) {
      this.#remember(`${match.masterKeyId} ${token}`, digests.get(match.masterKeyId) as Buffer)
      if (!this.#digests.has(token)) this.#remember(token, sha256(token))
    }
    return match
  }

  #remember(text: string, digest: Buffer): void {
    if (!this.#digests.has(text)) this.#digests.set(text, digest)
  }

  #digest(token: string, masterKeyId: string): Buffer {
    return this.#deps.sealer.digest(token, masterKeyId, 'operator-key')
  }

  #readLiveKeys(ageMsMax: number): Promise<readonly LiveKey[]> {
    return this.#liveKeys.get(undefined, () => readLiveKeys(this.#deps.pool), ageMsMax)
  }

  /** Two writes that no caller waits for: their failure fails no call. */
  #noteUse(token: string, key: LiveKey): void {
    const { pool, clock, sealer } = this.#deps
    const nowMs = clock.monotonicMs()
    const touchedAtMs = this.#touchedAtMs.get(key.id)
    if (touchedAtMs !== undefined && nowMs - touchedAtMs < TOUCHED_EVERY_MS) return
    this.#touchedAtMs.set(key.id, nowMs)
    touchKey(pool, key.id, new Date(clock.nowMs())).catch(() => this.#touchedAtMs.delete(key.id))
    if (sealer.isCurrent(key.masterKeyId)) return
    // Only now is the key known: rehashed under the current master key, it no longer needs the old one.
    const masterKeyId = sealer.digestKeyId
    const digest = this.#digest(token, masterKeyId)
    replaceKeyDigest(pool, key.id, { digest, masterKeyId }).catch(() => {})
  }
}

function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}
