// What the head of an answer says: RFC 9112, read line by line and strictly. Whatever two readers could understand in
// two ways is refused: two lengths, a length beside a coding, a coding that is not `chunked`, folded lines, a space
// before a colon. Pure: lines in, one head out.

import { BrokenAnswer, parseField } from './answer-lines.ts'
import { isValue, withoutSpace } from './header-grammar.ts'

/** In place of a number of bytes: the body comes in chunks; or it ends with the connection. */
export const IN_CHUNKS = -1
export const UNTIL_CLOSED = -2

export interface AnswerHead {
  readonly status: number
  /** How long its body is, or one of the two above. */
  readonly bodyBytes: number
  /** How long the receiver keeps the connection: 0 when it does not, Infinity when it does not say. */
  readonly keptMs: number
  readonly retryAfter: string | undefined
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)$/
/** Of `HTTP/1.1 200`: a space and the reason may follow. */
const STATUS_END = 12
/** As many digits as a number holds exactly. */
const LENGTH = /^\d{1,15}$/
const KEPT_SECONDS = /timeout=(\d{1,9})/
/** A connection is given up this long before the receiver does so: a request that meets its end is lost. */
const KEPT_MARGIN_MS = 2_000

export class HeadParser {
  readonly #isOld: boolean
  readonly #status: number
  #bodyBytes: number | null = null
  #isChunked = false
  #isClosing = false
  #isKeeping = false
  #keptMs = Infinity
  #retryAfter: string | undefined

  constructor(statusLine: string) {
    const match = STATUS_LINE.exec(statusLine.slice(0, STATUS_END))
    const reason = statusLine.slice(STATUS_END)
    const isReason = reason === '' || (reason.startsWith(' ') && isValue(reason))
    if (match === null || !isReason) throw new BrokenAnswer('a status line that is none')
    this.#isOld = match[1] === '0'
    this.#status = Number(match[2])
    // No request asks for another protocol.
    if (this.#status === 101) throw new BrokenAnswer('another protocol')
  }

  addLine(line: string): void {
    const { name, value } = parseField(line)
    if (name === 'content-length') this.#addLength(withoutTab(line, value))
    else if (name === 'transfer-encoding') this.#addCoding(withoutTab(line, value))
    // Old proxies say it by the second name, and Node's parser takes it for the first.
    else if (name === 'connection' || name === 'proxy-connection') this.#addConnection(value)
    else if (name === 'keep-alive') this.#addKeepAlive(value)
    else if (name === 'retry-after') this.#retryAfter ??= value
  }

  end(): AnswerHead {
    if (this.#isChunked && this.#bodyBytes !== null) throw new BrokenAnswer('a length and a coding')
    if (this.#isClosing && this.#status < 200) throw new BrokenAnswer('an end before the answer')
    const bodyBytes = this.#bodyBytesInAll()
    const keptMs = this.#isKept(bodyBytes) ? Math.max(0, this.#keptMs) : 0
    return { status: this.#status, bodyBytes, keptMs, retryAfter: this.#retryAfter }
  }

  /** RFC 9112 §6.3. */
  #bodyBytesInAll(): number {
    if (this.#status < 200 || this.#status === 204 || this.#status === 304) return 0
    if (this.#isChunked) return IN_CHUNKS
    return this.#bodyBytes ?? UNTIL_CLOSED
  }

  #isKept(bodyBytes: number): boolean {
    if (this.#isClosing || bodyBytes === UNTIL_CLOSED) return false
    // A body where there can be none: what comes next may be that, and no answer.
    if (bodyBytes === 0 && (this.#isChunked || this.#bodyBytes)) return false
    // RFC 9112 §6.1: HTTP/1.0 knows no chunks, so what comes after them is not to be trusted.
    return this.#isOld ? this.#isKeeping && !this.#isChunked : true
  }

  #addLength(value: string): void {
    if (this.#bodyBytes !== null) throw new BrokenAnswer('two lengths')
    if (!LENGTH.test(value)) throw new BrokenAnswer('a length that is none')
    this.#bodyBytes = Number(value)
  }

  #addCoding(value: string): void {
    if (this.#isChunked) throw new BrokenAnswer('two codings')
    if (value.toLowerCase() !== 'chunked') throw new BrokenAnswer('a coding that is not known')
    this.#isChunked = true
  }

  #addConnection(value: string): void {
    for (const option of value.toLowerCase().split(',')) {
      const word = withoutSpace(option)
      if (word === 'close') this.#isClosing = true
      else if (word === 'keep-alive') this.#isKeeping = true
    }
  }

  #addKeepAlive(value: string): void {
    const seconds = KEPT_SECONDS.exec(value)?.[1]
    if (seconds !== undefined) this.#keptMs = Number(seconds) * 1_000 - KEPT_MARGIN_MS
  }
}

/** RFC 9110 §5.6.3 lets a tab stand where a space may; not all readers do, and they read another body then. */
function withoutTab(line: string, value: string): string {
  if (line.includes('\t')) throw new BrokenAnswer('a tab beside how long it is')
  return value
}
