// Lets a server close in time. A request that is under way when it closes would leave its socket to the
// keep-alive time-out, and the whole stop would wait for that: 72 s, where 16 are promised.

import type { Socket } from 'node:net'
import type { App } from '../basics/typed.ts'

const REAP_EVERY_MS = 50

export function closeSocketsAfterAnswers(app: App, isDraining: () => boolean): void {
  let isClosing = false
  // Connections that clients open ahead and have not used yet: Node does not count them as idle.
  const silent = new Set<Socket>()
  app.server.on('connection', (socket: Socket) => {
    silent.add(socket)
    socket.once('close', () => silent.delete(socket))
  })
  app.server.on('request', (request) => silent.delete(request.socket))
  app.addHook('preClose', async () => {
    isClosing = true
    // Also closes connections whose answer had sent its headers before the closing began.
    const reaper = setInterval(() => {
      app.server.closeIdleConnections()
      for (const socket of silent) socket.destroy()
    }, REAP_EVERY_MS)
    reaper.unref()
    app.server.once('close', () => clearInterval(reaper))
  })
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (isClosing || isDraining()) reply.header('connection', 'close')
    done()
  })
}
