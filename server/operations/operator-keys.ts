// Who holds an operator's key. The live keys are in memory and believed for 2 seconds, so a revoked one
// stops working well within the promised 5, in every process; a wrong key costs no query of its own.

import { hash, timingSafeEqual } from 'node:crypto'
import { FIRST_OPERATOR, type Operator } from '../core/operator.ts'
import { type LiveKey, readLiveKeys, replaceKeyDigest, touchKey } from '../store/operator-keys.ts'
import type { Deps } from './deps.ts'

const BELIEVED_MS = 2_000
/** A key that was made a moment ago in another process is looked for again, this often at most. */
const ASKED_AGAIN_MS = 250
const TOUCHED_EVERY_MS = 60_000

/** The prefix lets people and scanners recognise a key that leaked. */
export const KEY_PREFIX = 'pbk_'
const KEY = /^pbk_[\w-]{43}$/

type KeysDeps = Pick<Deps, 'pool' | 'clock' | 'config' | 'sealer'>

interface Question {
  askedAtMs: number
  answer: Promise<readonly LiveKey[]>
}

export class OperatorKeys {
  readonly #deps: KeysDeps
  readonly #isFirst: (token: string) => boolean
  readonly #touchedAtMs = new Map<string, number>()
  #question: Question | null = null

  constructor(deps: KeysDeps) {
    this.#deps = deps
    this.#isFirst = comparer(deps.config.operatorKey)
  }

  /** Whose key this is; null when it is nobody's. */
  async verify(token: string): Promise<Operator | null> {
    return (await this.identify(token))?.operator ?? null
  }

  /** The same, and which key it is; the one of PAYBELL_OPERATOR_KEY has no id. */
  async identify(token: string): Promise<{ operator: Operator; keyId: string | null } | null> {
    if (this.#isFirst(token)) return { operator: FIRST_OPERATOR, keyId: null }
    if (!KEY.test(token)) return null
    const key =
      (await this.#match(token, BELIEVED_MS)) ?? (await this.#match(token, ASKED_AGAIN_MS))
    if (key === null) return null
    this.#noteUse(token, key)
    return { operator: { actor: key.name, role: key.role }, keyId: key.id }
  }

  /** A key was made or revoked here: what was heard is no longer believed. */
  forget(): void {
    this.#question = null
  }

  async #match(token: string, believedMs: number): Promise<LiveKey | null> {
    const keys = await this.#liveKeys(believedMs)
    const digests = new Map<string, Buffer>()
    let match: LiveKey | null = null
    // All of them are compared, behind the right one too: the time does not tell which it was.
    for (const key of keys) {
      if (!this.#deps.sealer.hasKey(key.masterKeyId)) continue
      const digest = digests.get(key.masterKeyId) ?? this.#digest(token, key.masterKeyId)
      digests.set(key.masterKeyId, digest)
      if (timingSafeEqual(digest, key.digest)) match = key
    }
    return match
  }

  #digest(token: string, masterKeyId: string): Buffer {
    return this.#deps.sealer.digest(token, masterKeyId, 'operator-key')
  }

  /** Callers at the same time share one query. */
  #liveKeys(believedMs: number): Promise<readonly LiveKey[]> {
    const nowMs = this.#deps.clock.monotonicMs()
    if (this.#question !== null && nowMs - this.#question.askedAtMs < believedMs) {
      return this.#question.answer
    }
    const question = { askedAtMs: nowMs, answer: readLiveKeys(this.#deps.pool) }
    this.#question = question
    // A failed question is nobody's answer: the next caller asks again.
    question.answer.catch(() => {
      if (this.#question === question) this.#question = null
    })
    return question.answer
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
    if (key.masterKeyId === sealer.writeKeyId) return
    // The only moment at which the key is known: from now on the old master key is not needed.
    const masterKeyId = sealer.writeKeyId
    const digest = this.#digest(token, masterKeyId)
    replaceKeyDigest(pool, key.id, { digest, masterKeyId }).catch(() => {})
  }
}

/** Texts of any length are compared in the same time by comparing what they hash to. */
function comparer(expected: string | null): (text: string) => boolean {
  if (expected === null) return () => false
  const digest = (text: string) => hash('sha256', text, 'buffer')
  const expectedDigest = digest(expected)
  return (text) => timingSafeEqual(digest(text), expectedDigest)
}
