// A TLS connection whose handshake passes the gate, what it cost, and how much may come afterwards that is no answer. Node lets OpenSSL read by itself from a socket that
// it knows; so it is given one that has not begun to connect, which it takes for a stream. What that costs each callback
// afterwards is in decision 0107.

import type { Socket } from 'node:net'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { HandshakeGate, type Refusal } from './handshake-gate.ts'

/** What the receiver sent was not handed on to OpenSSL. */
export class HandshakeRefused extends Error {
  readonly why: Refusal

  constructor(why: Refusal) {
    super(`handshake refused: ${why}`)
    this.name = 'HandshakeRefused'
    this.why = why
  }
}

/** Servers give two or four, all at once. Each takes 16 µs to read. */
const TICKETS_MAX = 16
/** Of what comes between two requests, beside twice what is in it: key updates, empty records, and one that is not whole yet. */
const EMPTY_BYTES_MAX = 32 * 1024
/** More than a record that is not whole yet: it is measured. */
const UNMEASURED_BYTES_MAX = 20 * 1024
/** OpenSSL reads what it is given to its end, also when the socket has been ended meanwhile. */
const SLICE_BYTES = 4 * 1024

export interface GatedTls {
  socket: TLSSocket
  /** To be called with what `tcp` reads; it keeps a copy at most. */
  take(bytes: Buffer): void
}

/** `tcp` begins to connect afterwards. `onCost` is called with the CPU time of this thread for the handshake, and once more at
 *  the end if what came afterwards took some. */
export function connectGated(
  tcp: Socket,
  options: ConnectionOptions,
  onCost: (ms: number) => void,
): GatedTls {
  const gate = new HandshakeGate({
    // The stream that Node makes of it copies them at once.
    pass: (bytes) => tcp.emit('data', bytes),
    refuse: (why) => socket.destroy(new HandshakeRefused(why)),
  })
  const socket: TLSSocket & { secureConnecting?: boolean } = connect({ ...options, socket: tcp })
  // Corked, a record would leave by a slower way; each is written whole.
  tcp.cork = () => {}
  tcp.uncork = () => {}
  // A server that wants another handshake is told no (TLS 1.2). Node would look at its certificates again, and find none.
  socket.once('secureConnect', () => socket.removeAllListeners('secure'))
  const learn = (line: Buffer) => gate.learn(line)
  socket.on('keylog', learn)
  // Node passes these on only to sockets of its own making.
  socket.ref = () => {
    tcp.ref()
    return socket
  }
  socket.unref = () => {
    tcp.unref()
    return socket
  }

  let costUs = 0
  let isOver = false
  const charge = () => {
    onCost(costUs / 1_000)
    costUs = 0
  }
  const end = () => {
    if (isOver) return
    isOver = true
    socket.off('keylog', learn)
    charge()
  }
  // One that is given up half-way has cost its part.
  socket.once('close', () => {
    end()
    if (costUs > 0) charge()
  })
  const measured = (bytes: Buffer) => {
    const before = process.threadCpuUsage()
    gate.take(bytes)
    const { user, system } = process.threadCpuUsage(before)
    costUs += user + system
  }

  const refuse = () => socket.destroy(new HandshakeRefused('too-costly'))
  let tickets = 0
  socket.on('session', () => {
    tickets += 1
    if (tickets > TICKETS_MAX) refuse()
  })
  /** Since the latest request. */
  let sealedBytes = 0
  let writtenBytes = 0
  let readBefore = 0
  const takeLater = (bytes: Buffer) => {
    if (socket.bytesWritten !== writtenBytes) {
      writtenBytes = socket.bytesWritten
      readBefore = socket.bytesRead
      sealedBytes = 0
    }
    sealedBytes += bytes.length
    const emptyBytes = sealedBytes - 2 * (socket.bytesRead - readBefore)
    if (emptyBytes - bytes.length > EMPTY_BYTES_MAX) refuse()
    else if (emptyBytes - bytes.length > UNMEASURED_BYTES_MAX) measured(bytes)
    else gate.take(bytes)
  }

  const take = (bytes: Buffer) => {
    for (let from = 0; from < bytes.length && !socket.destroyed; from += SLICE_BYTES) {
      const slice = bytes.subarray(from, from + SLICE_BYTES)
      if (isOver) takeLater(slice)
      else {
        measured(slice)
        if (socket.secureConnecting === false) end()
      }
    }
    if (socket.destroyed) end()
  }
  return { socket, take }
}
