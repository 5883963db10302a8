// Refusing a body before all of it has come: torn down with bytes still unread, the connection would be
// reset, and the answer lost on its way to a sender that is still writing (RFC 9112 §9.6).

import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'

/** How long a sender may go on before the socket is torn down all the same. */
const LINGER_MS = 5_000

/** Closes, when the answer is out, in two steps: no more from us, and then the end of what comes. */
export function lingerBehind(request: IncomingMessage): void {
  const { socket } = request
  if (request.complete || !(socket instanceof Socket)) return
  socket.destroySoon = () => {
    socket.end()
    // Node reads on by itself and drops what comes, because nobody has asked for it.
    request.once('end', () => socket.destroy())
    request.resume()
    const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref()
    socket.once('close', () => clearTimeout(timer))
  }
}
