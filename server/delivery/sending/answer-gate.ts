// What comes from a receiver passes here before undici parses it, because undici is wrong about the very
// beginning of an answer: an interim `100 Continue` that the request did not ask for ends it, although RFC
// 9110 §15.2 lets any number of them come first, and `RTSP/1.0 200` counts as a 200. Interim answers are
// taken out, what is not HTTP ends the socket. Of everything else only the first bytes are looked at.

import type { Socket } from 'node:net'
import { errors } from 'undici'

const HTTP = Buffer.from('HTTP/')
/** Of `HTTP/1.1 100`, the first and the last digit of the status. */
const STATUS_AT = 9
const STATUS_END = 12
const [CR, LF, SPACE, ONE] = [0x0d, 0x0a, 0x20, 0x31]
const END_OF_HEAD = '\r\n\r\n'
const INTERIM_BYTES_MAX = 16 * 1024

export class AnswerGate {
  readonly #socket: Socket
  readonly #read: (bytes?: number) => Buffer | null
  #isAwaited = false
  /** The beginning of an answer, too short yet to know what it is. */
  #held: Buffer | null = null

  constructor(socket: Socket) {
    this.#socket = socket
    this.#read = socket.read.bind(socket)
    // Undici reads by `read()`; Node itself by `read(0)`, which takes nothing out.
    socket.read = (bytes?: number) => {
      const chunk = this.#read(bytes)
      return this.#isAwaited && chunk !== null ? this.#admit(chunk) : chunk
    }
  }

  /** What is read next is the beginning of an answer. */
  expectAnswer(): void {
    this.#isAwaited = true
    this.#held = null
  }

  /** What undici may see of it; null while there is nothing. */
  #admit(chunk: Buffer): Buffer | null {
    let bytes = this.#held === null ? chunk : Buffer.concat([this.#held, chunk])
    this.#held = null
    for (;;) {
      bytes = withoutNewlines(bytes)
      if (!isHttp(bytes)) return this.#refuse()
      if (bytes.length <= STATUS_END) return this.#hold(bytes)
      if (!isInterim(bytes)) {
        this.#isAwaited = false
        return bytes
      }
      const end = bytes.indexOf(END_OF_HEAD)
      if (end === -1) return bytes.length > INTERIM_BYTES_MAX ? this.#refuse() : this.#hold(bytes)
      bytes = bytes.subarray(end + END_OF_HEAD.length)
    }
  }

  #hold(bytes: Buffer): null {
    // A view of the socket's buffer, which the next bytes overwrite: it is short, so a copy is cheap.
    if (bytes.length > 0) this.#held = Buffer.from(bytes)
    return null
  }

  #refuse(): null {
    this.#isAwaited = false
    this.#socket.destroy(new errors.HTTPParserError('the answer does not begin as HTTP does'))
    return null
  }
}

/** RFC 9112 §2.2: empty lines before the first line are passed over. */
function withoutNewlines(bytes: Buffer): Buffer {
  let start = 0
  while (bytes[start] === CR || bytes[start] === LF) start++
  return start === 0 ? bytes : bytes.subarray(start)
}

/** Whether it begins as HTTP does, as far as it is there. */
function isHttp(bytes: Buffer): boolean {
  const length = Math.min(HTTP.length, bytes.length)
  return bytes.compare(HTTP, 0, length, 0, length) === 0
}

/** 1xx, except 101: no request asks for another protocol, so undici refuses that one. */
function isInterim(bytes: Buffer): boolean {
  if (bytes[STATUS_AT - 1] !== SPACE || bytes[STATUS_AT] !== ONE) return false
  const isStatus = bytes[STATUS_END] === SPACE || bytes[STATUS_END] === CR
  return isStatus && bytes.toString('latin1', STATUS_AT, STATUS_END) !== '101'
}
