// What a broker may send at once. An answer comes as a frame behind its length, and the client keeps all of it until it is whole,
// however long it claims to be. A frame that claims more than any honest one ends the connection.

import type { Duplex } from 'node:stream'
import type { Base } from '@platformatic/kafka'

/** Lists of topics, partitions and members: of 100,000 partitions they have 6 MiB. */
const FRAME_BYTES_MAX = 16 * 1_024 * 1_024
/** The length itself. */
const LENGTH_BYTES = 4
/** The number of its request, which every answer begins with. */
const FRAME_BYTES_MIN = 4

export interface Frame {
  frameBytesMax?: number
  hasTls: boolean
  onRefused(fault: string): void
}

export function boundFrames<C extends Pick<Base, 'connections'>>(client: C, options: Frame): C {
  client.connections.on('connecting', ({ connection }) => {
    // Its socket is made right after this, and connected later.
    process.nextTick(() => {
      const { socket } = connection as { socket?: Duplex }
      socket?.once(options.hasTls ? 'secureConnect' : 'connect', () => guard(socket, options))
    })
  })
  return client
}

/** Nothing of a frame that is refused reaches the client: of a length below zero it makes an exception that nobody catches. */
function guard(socket: Duplex, options: Frame): void {
  const { frameBytesMax = FRAME_BYTES_MAX, hasTls, onRefused } = options
  const frames = new Frames(frameBytesMax)
  const readers = socket.listeners('data') as ((chunk: Buffer) => void)[]
  let isFirst = true
  socket.on('data', (chunk: Buffer) => {
    // The client says of a broker that wants TLS that it does, and reads no more.
    const fault = isFirst && !hasTls && isTlsRecord(chunk) ? null : frames.take(chunk)
    isFirst = false
    if (fault === null) {
      for (const read of readers) read(chunk)
      return
    }
    onRefused(fault)
    socket.destroy()
  })
  for (const read of readers) socket.off('data', read)
}

/** RFC 8446 §5.1: the type, and the version. */
function isTlsRecord([type = 0, version]: Buffer): boolean {
  return type >= 0x14 && type <= 0x17 && version === 3
}

/** Where frames begin in what comes. */
export class Frames {
  readonly #bytesMax: number
  readonly #length = Buffer.alloc(LENGTH_BYTES)
  #lengthBytes = 0
  /** Of the frame that has begun. */
  #missing = 0
  #fault: string | null = null

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** What is wrong with it; that stays. */
  take(chunk: Buffer): string | null {
    for (let at = 0; at < chunk.length && this.#fault === null; ) {
      if (this.#missing > 0) {
        const count = Math.min(this.#missing, chunk.length - at)
        this.#missing -= count
        at += count
        continue
      }
      this.#length[this.#lengthBytes++] = chunk[at++] as number
      if (this.#lengthBytes === LENGTH_BYTES) this.#begin(this.#length.readInt32BE(0))
    }
    return this.#fault
  }

  #begin(bytes: number): void {
    this.#lengthBytes = 0
    this.#missing = bytes
    if (bytes >= FRAME_BYTES_MIN && bytes <= this.#bytesMax) return
    const claim = `a broker has answered with a frame of ${bytes} bytes`
    this.#fault = bytes > this.#bytesMax ? `${claim}, above ${this.#bytesMax}` : claim
  }
}
