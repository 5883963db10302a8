// Each service of a run connects from an address of its own, by which the receivers know who has sent what. Nothing in a
// request tells them, and the owner of the shard need not be the sender: a process that is frozen with a request in hand
// sends it when it goes on, after another has taken over.

import { Socket } from 'node:net'

/** Of the n-th, counted from 1. All of 127.0.0.0/8 is this machine's own under Linux alone; null elsewhere. */
export function ownAddress(n: number): string | null {
  return process.platform === 'linux' ? `127.0.0.${n + 1}` : null
}

type Connect = (this: Socket, ...given: unknown[]) => Socket

/** All TCP connections of this process from now on. */
export function connectFrom(localAddress: string): void {
  const connect = Socket.prototype.connect as Connect
  const ours: Connect = function (...given) {
    // As `net.connect` hands them on: a list of the options and the callback.
    const [first] = given
    const options: unknown = Array.isArray(first) ? first[0] : first
    const isTcp = typeof options === 'object' && options !== null && 'port' in options
    if (isTcp) Object.assign(options, { localAddress })
    return connect.apply(this, given)
  }
  Socket.prototype.connect = ours as Socket['connect']
}
