// Who holds an operator's key. The live keys are in memory and believed for 2 seconds, so a revoked one
// stops working well within the promised 5, in every process; a wrong key costs no query of its own.

import { hash, timingSafeEqual } from 'node:crypto'
import { FIRST_OPERATOR, type Operator } from '../../core/operator.ts'
import {
  type LiveKey,
  readLiveKeys,
  replaceKeyDigest,
  touchKey,
} from '../../store/operator-keys.ts'
import type { Deps } from './deps.ts'

const BELIEVED_MS = 2_000
/** A key that was made a moment ago in another process is looked for again, this often at most. */
const ASKED_AGAIN_MS = 250
const TOUCHED_EVERY_MS = 60_000
/** Somewhat more than two for each key that can be live. */
const DIGESTS_MAX = 250

/** The prefix lets people and scanners recognise a key that leaked. */
export const KEY_PREFIX = 'pbk_'
const KEY = /^pbk_[\w-]{43}$/

type KeysDeps = Pick<Deps, 'pool' | 'clock' | 'config' | 'sealer'>

interface Question {
  askedAtMs: number
  answer: Promise<readonly LiveKey[]>
  /** The answer, once it is there. */
  keys: readonly LiveKey[] | null
}

export interface Identity {
  operator: Operator
  /** The one of PAYBELL_OPERATOR_KEY has none. */
  keyId: string | null
}

const FIRST: Identity = { operator: FIRST_OPERATOR, keyId: null }

export class OperatorKeys {
  readonly #deps: KeysDeps
  readonly #firstDigest: Buffer | null
  /**
   * What keys that were right hash to, so that a feeder's key is not hashed with each of its calls. The
   * digests are compared as ever, with the keys of the moment. A guess finds nothing here, and learns
   * nothing: a Map looks a text up by a seeded hash of the whole of it.
   */
  readonly #digests = new Map<string, Buffer>()
  readonly #touchedAtMs = new Map<string, number>()
  #question: Question | null = null

  constructor(deps: KeysDeps) {
    this.#deps = deps
    const { operatorKey } = deps.config
    this.#firstDigest = operatorKey === null ? null : sha256(operatorKey)
  }

  /** Whose key this is; null when it is nobody's. */
  async verify(token: string): Promise<Operator | null> {
    return (await this.identify(token))?.operator ?? null
  }

  /** The same, and which key it is. */
  async identify(token: string): Promise<Identity | null> {
    const known = this.recognise(token)
    if (known !== undefined) return known
    const key =
      this.#match(token, await this.#liveKeys(BELIEVED_MS)) ??
      this.#match(token, await this.#liveKeys(ASKED_AGAIN_MS))
    return key === null ? null : this.#identity(token, key)
  }

  /** The same from what is in memory and still believed; undefined when the database has to be asked. */
  recognise(token: string): Identity | null | undefined {
    if (this.#isFirst(token)) return FIRST
    if (!KEY.test(token)) return null
    const keys = this.#believed(BELIEVED_MS)?.keys ?? null
    const key = keys === null ? null : this.#match(token, keys)
    return key === null ? undefined : this.#identity(token, key)
  }

  /** A key was made or revoked here: what was heard is no longer believed. */
  forget(): void {
    this.#question = null
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
    // All of them are compared, behind the right one too: the time does not tell which it was.
    for (const key of keys) {
      const { masterKeyId } = key
      if (!this.#deps.sealer.hasKey(masterKeyId)) continue
      const known = digests.get(masterKeyId) ?? this.#digests.get(`${masterKeyId} ${token}`)
      const digest = known ?? this.#digest(token, masterKeyId)
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
    if (this.#digests.has(text)) return
    if (this.#digests.size >= DIGESTS_MAX) this.#digests.clear()
    this.#digests.set(text, digest)
  }

  #identity(token: string, key: LiveKey): Identity {
    this.#noteUse(token, key)
    return { operator: { actor: key.name, role: key.role }, keyId: key.id }
  }

  #digest(token: string, masterKeyId: string): Buffer {
    return this.#deps.sealer.digest(token, masterKeyId, 'operator-key')
  }

  /** Callers at the same time share one query. */
  #liveKeys(believedMs: number): Promise<readonly LiveKey[]> {
    const believed = this.#believed(believedMs)
    if (believed !== null) return believed.answer
    const question: Question = {
      askedAtMs: this.#deps.clock.monotonicMs(),
      answer: readLiveKeys(this.#deps.pool),
      keys: null,
    }
    this.#question = question
    question.answer.then(
      (keys) => {
        question.keys = keys
      },
      () => {
        // A failed question is nobody's answer: the next caller asks again.
        if (this.#question === question) this.#question = null
      },
    )
    return question.answer
  }

  #believed(believedMs: number): Question | null {
    if (this.#question === null) return null
    const ageMs = this.#deps.clock.monotonicMs() - this.#question.askedAtMs
    return ageMs < believedMs ? this.#question : null
  }

  /** Nobody waits for these two: they are worth a note, not a failed call. */
  #noteUse(token: string, key: LiveKey): void {
    const { pool, clock, sealer } = this.#deps
    const nowMs = clock.monotonicMs()
    const touchedAtMs = this.#touchedAtMs.get(key.id)
    if (touchedAtMs !== undefined && nowMs - touchedAtMs < TOUCHED_EVERY_MS) return
    this.#touchedAtMs.set(key.id, nowMs)
    // Keys come and go: those that have not been used for a minute need no place.
    for (const [id, atMs] of this.#touchedAtMs) {
      if (nowMs - atMs >= TOUCHED_EVERY_MS) this.#touchedAtMs.delete(id)
    }
    touchKey(pool, key.id, new Date(clock.nowMs())).catch(() => this.#touchedAtMs.delete(key.id))
    if (sealer.isCurrent(key.masterKeyId)) return
    // The only moment at which the key is known: from now on the old key is not needed.
    const masterKeyId = sealer.digestKeyId
    const digest = this.#digest(token, masterKeyId)
    replaceKeyDigest(pool, key.id, { digest, masterKeyId }).catch(() => {})
  }
}

function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}
