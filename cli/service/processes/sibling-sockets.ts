// Connections between the serving processes of one parent, for what one of them accepts and another owns. The parent makes
// each pair and gives the two ends away: the children need no address of each other, and nothing is left behind.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { SiblingChannel, SiblingEnd } from '../../../server/delivery/seams/sibling-channel.ts'

/** What waits to be written; more is not handed over, and read from the database instead. */
const WAITING_BYTES_MAX = 1024 * 1024

const LOOPBACK = '127.0.0.1'

/**
 * Two connected sockets, paused. Over the loopback, because a container may have no folder that it can write to. Whoever
 * else on this machine connects in that moment comes from another address or port than our own end, and is sent away.
 */
export async function makeSocketPair(): Promise<readonly [Socket, Socket]> {
  const accepted: Socket[] = []
  const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
    accepted.push(socket.on('error', () => {}))
  })
  try {
    await once(server.listen(0, LOOPBACK), 'listening')
    const { port } = server.address() as AddressInfo
    const one = connect({ host: LOOPBACK, port, noDelay: true })
    await once(one, 'connect')
    const isOurs = ({ remoteAddress, remotePort }: Socket) =>
      remoteAddress === one.localAddress && remotePort === one.localPort
    while (!accepted.some(isOurs)) await once(server, 'connection')
    const [other] = accepted.splice(accepted.findIndex(isOurs), 1)
    return [one, other as Socket]
  } finally {
    server.close()
    for (const stranger of accepted) stranger.destroy()
  }
}

/** Puts the socket of a sibling to use: a text is a line. */
export function useSocket(socket: Socket, join: (channel: SiblingChannel) => SiblingEnd): void {
  let rest = ''
  // What goes wrong with it closes it.
  socket.on('error', () => {})
  // The process does not live for it.
  socket.unref()
  const end = join({
    send(text) {
      if (socket.destroyed || socket.writableLength > WAITING_BYTES_MAX) return false
      socket.write(`${text}\n`)
      return true
    },
    close: () => void socket.destroy(),
  })
  socket.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) end.receive(line)
  })
  socket.once('close', () => end.closed())
  socket.resume()
}
