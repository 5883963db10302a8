// The records in a batch, one after the other, as far as they are what they say: a length that leads out of its record makes
// the batch unreadable. Headers stay bytes until somebody wants them: one record may have millions. Pure.
// https://kafka.apache.org/documentation/#recordheader

import { UnreadableBatch } from './unreadable.ts'

export interface KafkaRecord {
  offsetDelta: number
  key: Buffer | null
  value: Buffer | null
  /** Their number, and each with its name: see readHeaders. */
  headers: Buffer
  /** All of it. */
  bytes: number
}

export type KafkaHeader = readonly [name: Buffer, text: Buffer]

export function* readRecords(bytes: Buffer, count: number): Generator<KafkaRecord> {
  const all = new Cursor(bytes)
  for (let index = 0; index < count; index++) {
    const own = all.takeBytes()
    if (own === null) throw malformed()
    yield readRecord(own)
  }
}

/** Null where there are more than so many, or where they are malformed. One without a text is left out. */
export function readHeaders(bytes: Buffer, countMax: number): readonly KafkaHeader[] | null {
  const cursor = new Cursor(bytes)
  const headers: KafkaHeader[] = []
  try {
    const count = cursor.takeNumber()
    if (count < 0 || count > countMax) return null
    for (let index = 0; index < count; index++) {
      const name = cursor.takeBytes()
      const text = cursor.takeBytes()
      if (name !== null && text !== null) headers.push([name, text])
    }
    return headers
  } catch {
    return null
  }
}

function readRecord(bytes: Buffer): KafkaRecord {
  const cursor = new Cursor(bytes)
  cursor.skip(1)
  cursor.skipNumber()
  const offsetDelta = cursor.takeNumber()
  const key = cursor.takeBytes()
  const value = cursor.takeBytes()
  return { offsetDelta, key, value, headers: cursor.rest(), bytes: bytes.length }
}

/** Numbers are of variable length, the sign in the lowest bit. */
class Cursor {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  skip(count: number): void {
    this.#at += count
  }

  /** Of 64 bits. */
  skipNumber(): void {
    for (let left = 10; left > 0; left--) if (this.#takeByte() < 0x80) return
    throw malformed()
  }

  /** Of 32 bits. */
  takeNumber(): number {
    let number = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.#takeByte()
      number |= (byte & 0x7f) << shift
      if (byte < 0x80) return (number >>> 1) ^ -(number & 1)
    }
    throw malformed()
  }

  /** Behind their length; -1 is null. */
  takeBytes(): Buffer | null {
    const length = this.takeNumber()
    if (length === -1) return null
    const start = this.#at
    if (length < 0 || length > this.#bytes.length - start) throw malformed()
    this.#at += length
    return this.#bytes.subarray(start, this.#at)
  }

  rest(): Buffer {
    return this.#bytes.subarray(this.#at)
  }

  #takeByte(): number {
    const byte = this.#bytes[this.#at++]
    if (byte === undefined) throw malformed()
    return byte
  }
}

function malformed(): UnreadableBatch {
  return new UnreadableBatch('Its records are malformed.')
}
