// The digest of a set of ids: the sum, modulo 2^256, of the SHA-256 of each, as 64 hexadecimal digits. Order does
// not matter and sets can be added, so that a sender and a receiver each keep one number as they go and compare.
// An id that is missing, added or counted twice changes it.

import { createHash } from 'node:crypto'

const BITS = 256
const DIGITS = 64
const BYTES = 32

export const NO_IDS = '0'.repeat(DIGITS)

export function digestOfIds(ids: Iterable<string>): string {
  let sum = 0n
  for (const id of ids) sum += BigInt(`0x${createHash('sha256').update(id).digest('hex')}`)
  return toText(sum)
}

/** The digest of sets that share no id, from the digest of each. */
export function addDigests(digests: Iterable<string>): string {
  let sum = 0n
  for (const digest of digests) sum += BigInt(`0x${digest}`)
  return toText(sum)
}

/** From the sums of the hashes' first bytes, second bytes and so on, as a database can make them. */
export function digestOfByteSums(sums: readonly number[]): string {
  if (sums.length !== BYTES) throw new Error(`${sums.length} sums of bytes`)
  return toText(sums.reduce((sum, byte) => (sum << 8n) + BigInt(byte), 0n))
}

function toText(sum: bigint): string {
  return BigInt.asUintN(BITS, sum).toString(16).padStart(DIGITS, '0')
}
