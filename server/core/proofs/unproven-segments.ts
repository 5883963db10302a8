// Segments of the audit whose key was revoked: their own signatures prove nothing any more. But each segment's digest covers
// that of the one before it, so the next one that a trusted key has signed proves the chain up to it, as it was then.

import type { Finding } from './audit-finding.ts'

export interface RevokedSeal {
  keyId: string
  revokedAt: string
}

/** Only an adversary has more keys revoked than these. */
const REMARKS_MAX = 100

export class UnprovenSegments {
  /** The first and the last that nothing proves yet; what was before them is proven. */
  #open: { from: number; to: number; seal: RevokedSeal; hasRows: boolean } | null = null
  readonly #remarks: string[] = []

  get remarks(): readonly string[] {
    return this.#remarks
  }

  /**
   * One after the other, in the order of the chain. Where all rows of one are gone, what it says of the segment before it is
   * not seen to be covered by its digest: the chain then proves no rows that came before.
   */
  add(
    segment: number,
    seal: RevokedSeal,
    { hasRows, isRecomputed }: { hasRows: boolean; isRecomputed: boolean },
  ): Finding | null {
    const open = this.#open
    if (open?.hasRows && !isRecomputed) return this.find()
    this.#open = {
      from: open?.from ?? segment,
      to: segment,
      seal: open?.seal ?? seal,
      hasRows: hasRows || open?.hasRows === true,
    }
    return null
  }

  /** What a trusted key has signed, or what was seen before, is as it was sealed: so is all before it. */
  proveUpTo(segment: number): void {
    if (this.#open === null) return
    const { from, to, seal } = this.#open
    this.#open = null
    if (this.#remarks.length >= REMARKS_MAX) return
    const them = from === to ? `Segment ${from} is` : `Segments ${from} to ${to} are`
    const by =
      segment === to ? 'the head that was kept' : `segment ${segment}, which continues the chain,`
    this.#remarks.push(
      `${them} signed by a key that was revoked: ${seal.keyId}, at ${seal.revokedAt}. That they are as they were then is proven by ${by} and not by their own signatures.`,
    )
  }

  /** At the end of the chain. */
  find(): Finding | null {
    if (this.#open === null) return null
    const { from, seal } = this.#open
    const detail = `Segment ${from} is signed by the key ${seal.keyId}, which was revoked at ${seal.revokedAt}, and no later segment under another key proves it. Export to a later time, or give a head that you kept.`
    return { code: 'key-revoked', segment: from, row: null, detail }
  }
}
