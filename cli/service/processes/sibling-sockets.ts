// Connections between the serving processes of one parent, for what one of them accepts and another owns. The parent makes
// each pair and gives the two ends away: the children need no address of each other, and nothing is left behind.

import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join as joinPath } from 'node:path'
import type { SiblingChannel, SiblingEnd } from '../../../server/delivery/seams/sibling-channel.ts'

/** What waits to be written; more is not handed over, and read from the database instead. */
const WAITING_BYTES_MAX = 1024 * 1024

/** Two connected sockets, paused. The folder is for this user alone, and gone before anything is said. */
export async function makeSocketPair(within = tmpdir()): Promise<readonly [Socket, Socket]> {
  const folder = await mkdtemp(joinPath(within, 'paybell-'))
  try {
    const server = createServer({ pauseOnConnect: true }).listen(joinPath(folder, 'pair'))
    await once(server, 'listening')
    const accepted = once(server, 'connection')
    const one = connect({ path: joinPath(folder, 'pair') })
    const [[other]] = await Promise.all([accepted, once(one, 'connect')])
    server.close()
    return [one, other as Socket]
  } finally {
    await rm(folder, { recursive: true, force: true })
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
