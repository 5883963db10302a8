// Whether anything takes connections at an address now: `listen` says at once what the first callback would show.

import { connect } from 'node:net'

const WAIT_MS = 1_000

export function isReached({ protocol, hostname, port }: URL): Promise<boolean> {
  const socket = connect({
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port) || (protocol === 'https:' ? 443 : 80),
  })
  return new Promise((resolve) => {
    const end = (isOpen: boolean) => {
      socket.destroy()
      resolve(isOpen)
    }
    socket.setTimeout(WAIT_MS, () => end(false))
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
  })
}
