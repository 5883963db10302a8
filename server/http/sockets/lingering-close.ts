// Refuses a body before all of it has arrived. Closed with unread bytes, the connection would be reset, and
// a sender that is still writing would lose the answer (RFC 9112 §9.6).

import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'

/** How long a sender may go on before the socket is destroyed anyway. */
const LINGER_MS = 5_000

/** Closes in two steps once the answer is out: first our side, then, at its end, the sender's. */
export function lingerAfterAnswer(request: IncomingMessage): void {
  const { socket } = request
  if (request.complete || !(socket instanceof Socket)) return
  socket.destroySoon = () => {
    socket.end()
    // Node reads on by itself and drops the bytes, because the stream has no consumer.
    request.once('end', () => socket.destroy())
    request.resume()
    const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref()
    socket.once('close', () => clearTimeout(timer))
  }
}
