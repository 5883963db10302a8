// A short code that a terminal and a browser both show, so that a person sees whether they belong together. It proves
// nothing to a program: it follows from the challenge, which stands in the address that the browser was sent to.

import { createHash } from 'node:crypto'

/** Without letters and digits that look alike. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'
const LENGTH = 8

export function toComparisonCode(challenge: string): string {
  const bytes = createHash('sha256').update(`paybell login ${challenge}`).digest()
  const text = [...bytes.subarray(0, LENGTH)].map((byte) => ALPHABET[byte % ALPHABET.length])
  return `${text.slice(0, LENGTH / 2).join('')}-${text.slice(LENGTH / 2).join('')}`
}
