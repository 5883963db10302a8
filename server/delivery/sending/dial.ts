// Opens a socket, plain or with TLS. It checks nothing itself: the guarded connector alone calls it. What a socket
// reads is handed over at once, in one buffer for all of them: no stream in between, nothing allocated.

import {
  connect as connectTcp,
  type LookupFunction,
  type Socket,
  type TcpNetConnectOpts,
} from 'node:net'
import { type ConnectionOptions, connect as connectTls, type SecureContext } from 'node:tls'
import { BoundedMap } from '../../core/plain/bounded-map.ts'
import type { TlsSettings } from './tls-settings.ts'

export interface DialTarget {
  protocol: string
  /** An address without brackets, or a name. */
  hostname: string
  /** Empty for the usual one. */
  port: string
  /** Of the endpoint's own; null for the usual. */
  tls: TlsSettings | null
  /** Called with a view of a buffer that is used again: what is kept has to be copied. */
  onBytes(bytes: Buffer): void
}

export interface DialOptions {
  lookup: LookupFunction
  secureContext: SecureContext
}

export type DialFn = (target: DialTarget, servername: string | undefined) => Socket

const READ_BYTES = 64 * 1024
/** TLS sessions that may be taken up again, by name: a handshake with one costs a round trip less. */
const SESSIONS_MAX = 100
const TCP_KEEP_ALIVE_MS = 60_000

export function createDial({ lookup, secureContext }: DialOptions): DialFn {
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES)
  const sessions = new BoundedMap<string, Buffer>(SESSIONS_MAX)

  return ({ protocol, hostname, port, tls, onBytes }, servername) => {
    const isTls = protocol === 'https:'
    const tcp: TcpNetConnectOpts = {
      host: hostname,
      port: port === '' ? (isTls ? 443 : 80) : Number(port),
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
          onBytes(buffer.subarray(0, size))
          return true
        },
      },
    }
    if (!isTls) return connectTcp(tcp)
    // A session stands for the certificates that it began with: other settings never take it up.
    const sessionKey = `${servername ?? hostname} ${tls?.name ?? ''}`
    const session = sessions.get(sessionKey)
    const options: ConnectionOptions = {
      ...(tcp as ConnectionOptions),
      secureContext: tls?.context ?? secureContext,
      rejectUnauthorized: true,
      ALPNProtocols: ['http/1.1'],
      ...(servername === undefined ? {} : { servername }),
      ...(session === undefined ? {} : { session }),
    }
    return connectTls(options).on('session', (given: Buffer) => {
      sessions.set(sessionKey, given)
    })
  }
}
