// The lines of an answer but the first: a header or trailer, and the line before a chunk. RFC 9112, without what it
// merely tolerates: no folding, no space before a colon or around an extension.

import { findEndOfParameters, isToken, isValue, withoutSpace } from './header-grammar.ts'

/** What came is no HTTP, or not as it has to be. */
export class BrokenAnswer extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'BrokenAnswer'
  }
}

/** No more digits than a number holds exactly. */
const CHUNK_SIZE = /^[0-9A-Fa-f]{1,12}$/

export interface Field {
  /** In small letters. */
  name: string
  value: string
}

export function parseField(line: string): Field {
  const colon = line.indexOf(':')
  const name = line.slice(0, Math.max(0, colon))
  const value = line.slice(colon + 1)
  if (!isToken(name) || !isValue(value)) throw new BrokenAnswer('a header line that is none')
  return { name: name.toLowerCase(), value: withoutSpace(value) }
}

export function parseChunkLine(line: string): { chunkBytes: number; extensionBytes: number } {
  const semicolon = line.indexOf(';')
  const sizeEnd = semicolon === -1 ? line.length : semicolon
  const size = line.slice(0, sizeEnd)
  if (!CHUNK_SIZE.test(size)) throw new BrokenAnswer('a chunk without a size')
  if (findEndOfParameters(line, sizeEnd) !== line.length) {
    throw new BrokenAnswer('an extension that is none')
  }
  return { chunkBytes: Number.parseInt(size, 16), extensionBytes: line.length - sizeEnd }
}
