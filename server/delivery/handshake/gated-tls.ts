// A TLS connection whose handshake passes the gate, and what it cost. Node lets OpenSSL read by itself from a socket that
// it knows; so it is given one that has not begun to connect, which it takes for a stream. What that costs each callback
// afterwards is in decision 0107.

import type { Socket } from 'node:net'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { HandshakeGate, type Refusal } from './handshake-gate.ts'

/** The receiver's part of the handshake was not handed on to OpenSSL. */
export class HandshakeRefused extends Error {
  readonly why: Refusal

  constructor(why: Refusal) {
    super(`handshake refused: ${why}`)
    this.name = 'HandshakeRefused'
    this.why = why
  }
}

export interface GatedTls {
  socket: TLSSocket
  /** To be called with what `tcp` reads; it keeps a copy at most. */
  take(bytes: Buffer): void
}

/** `tcp` begins to connect afterwards. `onCost` is called once, with the CPU time of this thread for the handshake. */
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
  const end = () => {
    if (isOver) return
    isOver = true
    socket.off('keylog', learn)
    onCost(costUs / 1_000)
  }
  // One that is given up half-way has cost its part.
  socket.once('close', end)
  const take = (bytes: Buffer) => {
    if (isOver) {
      gate.take(bytes)
      return
    }
    const before = process.threadCpuUsage()
    gate.take(bytes)
    const { user, system } = process.threadCpuUsage(before)
    costUs += user + system
    if (socket.secureConnecting === false || socket.destroyed) end()
  }
  return { socket, take }
}
