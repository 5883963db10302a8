// One socket at most, and one request on it at a time: HTTP/1.1. It connects when it is first used, and again when
// the receiver has closed an idle socket; that is found before anything is sent. What breaks while a request is
// under way is told to it, once.

import type { Socket } from 'node:net'
import { AnswerReader, type AnswerTaker, type RememberedHead } from './answer-reader.ts'
import type { DialPlace } from './dial.ts'
import type { ConnectFn } from './guarded-connector.ts'
import type { Looking, NextRound } from './next-round.ts'
import { joined, type RequestBytes } from './request-bytes.ts'

/** What a wire carries: a request, and whoever takes its answer. */
export interface Carried extends AnswerTaker {
  /** Asked in the last moment before the first byte. After a false nothing more is called. */
  mayBegin(): boolean
  /** No whole answer will come. */
  onBroken(error: unknown): void
}

export interface WireParts {
  connect: ConnectFn
  nextRound: NextRound
}

// Up to this, head and body are copied into one buffer: cheaper than a write each. Above, the parts are written
// one by one as they are, so that a document of 14 MB is never in memory twice.
const JOINED_BYTES_MAX = 64 * 1024

export class Wire implements Looking {
  readonly #parts: WireParts
  readonly #place: DialPlace
  readonly #clientKey: number
  readonly #remembered: RememberedHead
  readonly #onLost: () => void
  #reader: AnswerReader
  #socket: Socket | null = null
  #carried: Carried | null = null
  #request: RequestBytes | null = null
  /** Taken from the idle ones a moment ago: before anything is sent it is looked at for a round. */
  #isLooking = false
  #isWriting = false
  #isDestroyed = false

  /** `onLost` is called when a socket ends that carries nothing. */
  constructor(
    parts: WireParts,
    place: DialPlace,
    clientKey: number,
    remembered: RememberedHead,
    onLost: () => void,
  ) {
    this.#parts = parts
    this.#place = place
    this.#clientKey = clientKey
    this.#remembered = remembered
    this.#onLost = onLost
    this.#reader = new AnswerReader(remembered)
  }

  carry(carried: Carried, request: RequestBytes): void {
    this.#carried = carried
    this.#request = request
    if (this.#socket === null) {
      this.#connect()
      return
    }
    this.#isLooking = true
    this.#parts.nextRound.add(this)
  }

  /** The socket was idle until now, and has been looked at. */
  onRound(): void {
    this.#isLooking = false
    if (this.#carried === null) return
    if (this.#socket === null) this.#connect()
    else this.#begin(this.#socket)
  }

  /** The answer is whole: true when the socket can carry another request. It does not keep the process alive then. */
  rest(): boolean {
    this.#carried = null
    this.#request = null
    const socket = this.#socket
    // An answer that came before all of the request had left: the rest of it is still in the way.
    if (socket === null || this.#isWriting || socket.writableLength > 0) return false
    socket.unref()
    return true
  }

  /** Ends the socket at once, also one that is still connecting. Nothing is called any more. */
  destroy(): void {
    this.#isDestroyed = true
    this.#carried = null
    this.#request = null
    this.#reader.stop()
    this.#socket?.destroy()
    this.#socket = null
  }

  #connect(): void {
    const reader = new AnswerReader(this.#remembered)
    this.#reader = reader
    const onBytes = (bytes: Buffer) => this.#take(reader, bytes)
    const target = { ...this.#place, clientKey: this.#clientKey, onBytes }
    this.#socket = this.#parts.connect(target, (error, socket) => {
      if (this.#isDestroyed) socket?.destroy()
      else if (socket === null) this.#break(error)
      else this.#onConnected(socket)
    })
  }

  #onConnected(socket: Socket): void {
    socket.on('error', (error) => this.#lose(socket, error))
    socket.on('end', () => this.#onEnd(socket))
    socket.on('close', () => this.#lose(socket, new Error('the receiver has closed')))
    this.#begin(socket)
  }

  #begin(socket: Socket): void {
    const carried = this.#carried
    const request = this.#request
    if (carried === null || request === null) return
    const whole = request.bodyBytes <= JOINED_BYTES_MAX ? joined(request) : null
    // Between the question and the system call nothing can be known: whatever can be done is done before it.
    if (!carried.mayBegin()) return
    this.#request = null
    this.#reader.expect(carried)
    if (whole === null) {
      this.#writeInParts(socket, request).catch((error) => this.#lose(socket, error))
    } else socket.write(whole)
    socket.ref()
  }

  async #writeInParts(socket: Socket, { head, body }: RequestBytes): Promise<void> {
    this.#isWriting = true
    socket.write(head, 'latin1')
    // A body may hand its parts out slowly: then it has an asynchronous iterator of its own.
    for await (const part of body) {
      if (socket.destroyed) return
      if (!socket.write(part)) await drained(socket)
    }
    this.#isWriting = false
  }

  #take(reader: AnswerReader, bytes: Buffer): void {
    if (reader !== this.#reader || this.#socket === null) return
    try {
      reader.take(bytes)
    } catch (error) {
      if (this.#socket !== null) this.#lose(this.#socket, error)
    }
  }

  #onEnd(socket: Socket): void {
    if (socket !== this.#socket || this.#reader.end()) return
    this.#lose(socket, new Error('the receiver has ended its side'))
  }

  #lose(socket: Socket, error: unknown): void {
    if (socket !== this.#socket) return
    this.#socket = null
    socket.destroy()
    // Nothing was sent on it: once the round is over, another is connected.
    if (!this.#isLooking) this.#break(error)
  }

  #break(error: unknown): void {
    const carried = this.#carried
    this.#carried = null
    this.#request = null
    this.#socket = null
    if (carried === null) this.#onLost()
    else carried.onBroken(error)
  }
}

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      socket.off('drain', go)
      socket.off('close', go)
      resolve()
    }
    socket.on('drain', go)
    socket.on('close', go)
  })
}
