// Drops: the service's signed word that retention takes the rows of old segments. Nothing else excuses rows that are
// gone. A drop counts for the chain that has its last segment, and only if that one was old enough.

import { DAY_MS } from '../delivery/backoff.ts'
import type { Finding } from './audit-finding.ts'
import { DROP_TYPE, type DropClaims, RETENTION_DAYS_MIN, type Segment } from './audit-seal.ts'
import { readSeal, type SealKeys } from './seal-signature.ts'

/** Times that are further apart than this, against the order of the chain, are told to the reader. */
export const TIMES_APART_MS = 60 * 60_000

export class DropChecker {
  readonly #keys: SealKeys
  /** Those whose last segment has not come yet, by its number. */
  readonly #awaited = new Map<number, DropClaims>()
  #newest: DropClaims | null = null
  #remark: string | null = null

  constructor(keys: SealKeys) {
    this.#keys = keys
  }

  get remarks(): readonly string[] {
    return this.#remark === null ? [] : [this.#remark]
  }

  /** `next` is the segment that comes next. One that comes after its own segment waits for it to the end, in vain. */
  add(jws: string, next: number): Finding | null {
    const read = readDrop(jws, this.#keys)
    if (typeof read === 'string') return found(next, read)
    const { through, digest } = read
    const awaited = this.#awaited.get(through)
    if (awaited !== undefined && awaited.digest !== digest) {
      return found(next, `There are two drops through segment ${through}, of different chains.`)
    }
    this.#awaited.set(through, read)
    if (this.#newest === null || through > this.#newest.through) this.#newest = read
    return null
  }

  covers(segment: number): boolean {
    return this.#newest !== null && segment <= this.#newest.through
  }

  /** A segment of the chain, whose signature holds. */
  segment({ segment, digest, sealedAt }: Segment): Finding | null {
    this.#compareTimes(segment, sealedAt)
    const drop = this.#awaited.get(segment)
    if (drop === undefined) return null
    this.#awaited.delete(segment)
    if (drop.digest === digest && drop.sealedAt === sealedAt) return null
    return found(segment, `The drop through segment ${segment} is one of another chain.`)
  }

  end(): Finding | null {
    const [through] = this.#awaited.keys()
    if (through === undefined) return null
    return found(
      through,
      `The drop through segment ${through} cannot be held against the chain: it has no such segment.`,
    )
  }

  /** Told, and no finding: a clock that was ahead when the drop was made is as honest as one that was behind later. */
  #compareTimes(segment: number, sealedAt: string): void {
    const drop = this.#newest
    if (this.#remark !== null || drop === null || segment <= drop.head) return
    if (Date.parse(sealedAt) >= Date.parse(drop.droppedAt) - TIMES_APART_MS) return
    this.#remark = `The drop through segment ${drop.through} says that it was made at ${drop.droppedAt}, but segment ${segment}, which came after it, was sealed at ${sealedAt}: a clock was wrong, and rows may have been dropped too early.`
  }
}

function found(segment: number, detail: string): Finding {
  return { code: 'drop-invalid', segment, row: null, detail }
}

/** The claims, or a sentence that says why they do not count. */
function readDrop(jws: string, keys: SealKeys): DropClaims | string {
  const seal = readSeal(jws, DROP_TYPE, keys)
  if (seal.kind === 'unknown-key') {
    return `A drop is signed by the key ${seal.keyId}, which is not among the public keys it was checked with.`
  }
  if (seal.kind === 'revoked-key') {
    return `A drop is signed by the key ${seal.keyId}, which was revoked at ${seal.revokedAt}: it excuses nothing. The next drop is signed by another key.`
  }
  if (seal.kind === 'invalid') return 'The signature of a drop is not valid.'
  const claims = seal.claims as unknown as DropClaims
  const { through, retentionDays, sealedAt, droppedAt } = claims
  const isOldEnough =
    retentionDays >= RETENTION_DAYS_MIN &&
    Date.parse(sealedAt) + retentionDays * DAY_MS <= Date.parse(droppedAt)
  if (isOldEnough) return claims
  return `The drop through segment ${through} is no drop by retention: that segment was sealed at ${sealedAt}, and dropped at ${droppedAt}, after less than ${Math.max(retentionDays, RETENTION_DAYS_MIN)} days.`
}
