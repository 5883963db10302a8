// Reads the answers of one connection, one for each request: bytes in, calls out, no socket and no clock. However the
// bytes are cut, the calls are the same, but for the cuts of the body. What is odd throws BrokenAnswer, and the reader
// is not used again. It never holds more than one line, and no line is longer than a head may be.

import { type AnswerHead, HeadParser, IN_CHUNKS, UNTIL_CLOSED } from './answer-head.ts'
import { BrokenAnswer, parseChunkLine, parseField } from './answer-lines.ts'
import { isValue } from './header-grammar.ts'

export interface AnswerTaker {
  /** `isWhole`: all of the body has come along with it. */
  onHead(head: AnswerHead, isWhole: boolean): void
  /** A view of the socket's buffer: what is kept has to be copied. */
  onBody(bytes: Buffer): void
  /** The last byte of the answer is read, and none has come after it. */
  onWhole(head: AnswerHead): void
}

/** A receiver's last head and its bytes: it says the same many times in a second, and is parsed once. */
export interface RememberedHead {
  bytes: Buffer
  head: AnswerHead | null
}

export const NO_BYTES = Buffer.alloc(0)

/** Of a head, and of a trailer, in all. */
const HEAD_BYTES_MAX = 16 * 1024
const REMEMBERED_BYTES_MAX = 1_024
/** However many the RFC allows, a receiver that sends more than these has nothing to say. */
const INTERIM_MAX = 1_000
/** Of the lines of all chunks, beyond their sizes: nobody needs extensions. */
const EXTENSION_BYTES_MAX = 4 * 1024
const [CR, LF] = [0x0d, 0x0a]
const BEGINNING = 'HTTP/1.'
/** RFC 9110 §6.5.1: what says where a body ends does not come after it. */
const FRAMING: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding'])

/** What is read next. `nothing`: no request waits. `stopped`: nobody wants to know the rest. */
type State =
  | 'nothing'
  | 'status-line'
  | 'header-line'
  | 'body'
  | 'chunk-line'
  | 'chunk-end'
  | 'trailer-line'
  | 'stopped'

export class AnswerReader {
  readonly #remembered: RememberedHead
  #state: State = 'nothing'
  #taker: AnswerTaker | null = null
  #parser: HeadParser | null = null
  #head: AnswerHead | null = null
  /** The beginning of a line whose end has not come. */
  #held: Buffer = NO_BYTES
  /** Of the head or trailer that is being read. */
  #headBytes = 0
  #interimCount = 0
  #extensionBytes = 0
  /** Of the body, or of its present chunk; Infinity until the connection ends. */
  #leftBytes = 0

  constructor(remembered: RememberedHead) {
    this.#remembered = remembered
  }

  /** What comes next is the answer to a request. */
  expect(taker: AnswerTaker): void {
    this.#taker = taker
    this.#state = 'status-line'
    this.#headBytes = 0
    this.#interimCount = 0
    this.#extensionBytes = 0
  }

  /** What still comes is passed over. */
  stop(): void {
    this.#state = 'stopped'
    this.#held = NO_BYTES
  }

  take(bytes: Buffer): void {
    let at = 0
    while (at < bytes.length) {
      if (this.#state === 'stopped') return
      if (this.#state === 'nothing') throw new BrokenAnswer('bytes that no request asked for')
      if (this.#state === 'body') at = this.#takeBody(bytes, at)
      else if (this.#state === 'status-line') at = this.#takeHead(bytes, at)
      else at = this.#takeLine(bytes, at)
    }
  }

  /** The receiver sends no more. False when an answer was still to come, or a part of one. */
  end(): boolean {
    if (this.#state !== 'body' || this.#leftBytes !== Infinity) return false
    this.#state = 'nothing'
    this.#taker?.onWhole(this.#head as AnswerHead)
    return true
  }

  /** A head that is known by its bytes, or else line by line; then it is known next time. */
  #takeHead(bytes: Buffer, at: number): number {
    if (this.#held.length > 0) return this.#takeLine(bytes, at)
    const remembered = this.#remembered
    const knownTo = at + remembered.bytes.length
    if (remembered.head !== null && knownTo <= bytes.length) {
      const isRoomLeft = this.#headBytes + remembered.bytes.length <= HEAD_BYTES_MAX
      if (isRoomLeft && remembered.bytes.compare(bytes, at, knownTo) === 0) {
        this.#begin(remembered.head, bytes, knownTo)
        return knownTo
      }
    }
    let next = this.#takeLine(bytes, at)
    while (next < bytes.length && this.#state === 'header-line') {
      next = this.#takeLine(bytes, next, at)
    }
    return next
  }

  /** `headAt`: where the whole head begins, if all of it is in these bytes. */
  #takeLine(bytes: Buffer, at: number, headAt = -1): number {
    const newline = bytes.indexOf(LF, at)
    const next = newline === -1 ? bytes.length : newline + 1
    this.#headBytes += next - at
    if (this.#headBytes > HEAD_BYTES_MAX) throw new BrokenAnswer('a head without an end')
    if (newline === -1) {
      this.#hold(bytes.subarray(at))
      return next
    }
    let line: string
    if (this.#held.length === 0) {
      if (newline === at || bytes[newline - 1] !== CR) throw new BrokenAnswer('a line without CR')
      line = bytes.toString('latin1', at, newline - 1)
    } else {
      line = Buffer.concat([this.#held, bytes.subarray(at, next)])
        .toString('latin1')
        .slice(0, -1)
      this.#held = NO_BYTES
      if (!line.endsWith('\r')) throw new BrokenAnswer('a line without CR')
      line = line.slice(0, -1)
    }
    if (this.#state === 'header-line' && line === '') this.#endHead(bytes, next, headAt)
    else this.#addLine(line, bytes, next)
    return next
  }

  /** Copied: the socket's buffer is used again. What cannot become right is refused at once, not waited for. */
  #hold(part: Buffer): void {
    const isAfterCr = this.#held.at(-1) === CR
    const lineEnd = part.at(-1) === CR ? part.length - 1 : part.length
    if (isAfterCr || !isValue(part.toString('latin1', 0, lineEnd)))
      throw new BrokenAnswer('a byte of no line')
    this.#held = this.#held.length === 0 ? Buffer.from(part) : Buffer.concat([this.#held, part])
    const begun = this.#held.toString('latin1', 0, BEGINNING.length)
    if (begun === '\r') return
    if (this.#state === 'chunk-end') throw new BrokenAnswer('a chunk longer than it said')
    if (this.#state === 'status-line' && !BEGINNING.startsWith(begun)) {
      throw new BrokenAnswer('the answer does not begin as HTTP does')
    }
  }

  #addLine(line: string, bytes: Buffer, next: number): void {
    switch (this.#state) {
      case 'status-line':
        // RFC 9112 §2.2: empty lines before it are passed over.
        if (line === '') return
        this.#parser = new HeadParser(line)
        this.#state = 'header-line'
        return
      case 'header-line':
        this.#parser?.addLine(line)
        return
      case 'chunk-line':
        this.#beginChunk(line)
        return
      case 'chunk-end':
        if (line !== '') throw new BrokenAnswer('a chunk longer than it said')
        this.#state = 'chunk-line'
        this.#headBytes = 0
        return
      case 'trailer-line':
        if (line === '') this.#endAnswer(bytes, next)
        else if (FRAMING.has(parseField(line).name)) throw new BrokenAnswer('a length too late')
    }
  }

  #endHead(bytes: Buffer, next: number, headAt: number): void {
    const head = (this.#parser as HeadParser).end()
    this.#parser = null
    if (head.status < 200) {
      this.#interimCount += 1
      if (this.#interimCount > INTERIM_MAX) throw new BrokenAnswer('interim answers without an end')
      this.#headBytes = 0
      this.#state = 'status-line'
      return
    }
    if (headAt >= 0 && next - headAt <= REMEMBERED_BYTES_MAX) {
      this.#remembered.bytes = Buffer.from(bytes.subarray(headAt, next))
      this.#remembered.head = head
    }
    this.#begin(head, bytes, next)
  }

  /** The head is read, and the body begins. */
  #begin(head: AnswerHead, bytes: Buffer, next: number): void {
    this.#head = head
    this.#headBytes = 0
    const { bodyBytes } = head
    this.#leftBytes = bodyBytes === UNTIL_CLOSED ? Infinity : bodyBytes
    this.#state = bodyBytes === IN_CHUNKS ? 'chunk-line' : 'body'
    const isWhole = bodyBytes >= 0 && bodyBytes <= bytes.length - next
    this.#taker?.onHead(head, isWhole)
    if (bodyBytes === 0) this.#endAnswer(bytes, next)
  }

  #takeBody(bytes: Buffer, at: number): number {
    const next = Math.min(bytes.length, at + this.#leftBytes)
    this.#leftBytes -= next - at
    this.#taker?.onBody(bytes.subarray(at, next))
    if (this.#leftBytes > 0 || this.#state === 'stopped') return next
    if (this.#head?.bodyBytes === IN_CHUNKS) this.#state = 'chunk-end'
    else this.#endAnswer(bytes, next)
    return next
  }

  #beginChunk(line: string): void {
    const { chunkBytes, extensionBytes } = parseChunkLine(line)
    this.#extensionBytes += extensionBytes
    if (this.#extensionBytes > EXTENSION_BYTES_MAX) throw new BrokenAnswer('too many extensions')
    this.#leftBytes = chunkBytes
    this.#headBytes = 0
    this.#state = this.#leftBytes === 0 ? 'trailer-line' : 'body'
  }

  #endAnswer(bytes: Buffer, next: number): void {
    if (this.#state === 'stopped') return
    this.#state = 'nothing'
    // The answer stands; what would be read as the next one's beginning ends the connection.
    if (next < bytes.length) throw new BrokenAnswer('more than its answer')
    this.#taker?.onWhole(this.#head as AnswerHead)
  }
}
