// Opens a socket, plain or with TLS. It checks no address itself: the guarded connector alone calls it. What a socket
// reads is handed over at once, in one buffer for all of them; beneath TLS, to the gate of the handshake.

import {
  type LookupFunction,
  Socket,
  type SocketConstructorOpts,
  type TcpNetConnectOpts,
} from 'node:net'
import type { SecureContext } from 'node:tls'
import { connectGated } from '../handshake/gated-tls.ts'
import { type SessionClocks, TlsSessions } from '../handshake/tls-sessions.ts'
import type { TlsSettings } from './tls-settings.ts'

/** Where to, for whomever. */
export interface DialPlace {
  protocol: string
  /** An address without brackets, or a name. */
  hostname: string
  /** Empty for the usual one. */
  port: string
  /** Of the endpoint's own; null for the usual. */
  tls: TlsSettings | null
}

export interface DialTarget extends DialPlace {
  /** Clients share no TLS session. */
  clientKey: number
  /** Called with a view of a buffer that is used again: what is kept has to be copied. */
  onBytes(bytes: Buffer): void
}

export interface DialOptions {
  lookup: LookupFunction
  secureContext: SecureContext
  clocks: SessionClocks
}

export interface Dialled {
  /** What is written to and listened to. */
  socket: Socket
  /** The same, or what is beneath TLS: it knows the peer's address. */
  tcp: Socket
}

export type DialFn = (
  target: DialTarget,
  servername: string | undefined,
  /** Called once, with the CPU time of a handshake. */
  onHandshake: (ms: number) => void,
) => Dialled

const READ_BYTES = 64 * 1024
const TCP_KEEP_ALIVE_MS = 60_000

export function createDial({ lookup, secureContext, clocks }: DialOptions): DialFn {
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES)
  const sessions = new TlsSessions(clocks)

  return (target, servername, onHandshake) => {
    const { hostname, tls, clientKey } = target
    const isTls = target.protocol === 'https:'
    const port = target.port === '' ? (isTls ? 443 : 80) : Number(target.port)
    let take = target.onBytes
    const options: TcpNetConnectOpts & SocketConstructorOpts = {
      host: hostname,
      port,
      lookup,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
      // A dead address among a name's several costs this long, then the next one is tried.
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: 500,
      onread: {
        buffer,
        callback: (size) => {
          take(buffer.subarray(0, size))
          return true
        },
      },
    }
    const tcp = new Socket(options)
    if (!isTls) return { socket: tcp.connect(options), tcp }

    // A session stands for the certificates that it began with: other settings never take it up.
    const key = `${clientKey} ${servername ?? hostname} ${port} ${tls?.name ?? ''}`
    const session = sessions.find(key)
    const gated = connectGated(
      tcp,
      {
        host: hostname,
        secureContext: tls?.context ?? secureContext,
        rejectUnauthorized: true,
        ALPNProtocols: ['http/1.1'],
        ...(servername === undefined ? {} : { servername }),
        ...(session === null ? {} : { session: session.bytes }),
      },
      onHandshake,
    )
    take = gated.take
    sessions.keepFrom(gated.socket, key, session)
    gated.socket.on('data', target.onBytes)
    tcp.connect(options)
    return { socket: gated.socket, tcp }
  }
}
