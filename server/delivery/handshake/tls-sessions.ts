// TLS sessions that can be taken up again: a handshake with one costs a round trip and some CPU less. But nobody verifies
// a certificate then. So a session ends with the certificate that its full handshake verified, and an hour after
// that handshake at the latest; the tickets of a session that was taken up end with it (RFC 8446 §4.6.1).

import type { TLSSocket } from 'node:tls'
import { BoundedMap } from '../../core/plain/bounded-map.ts'

const SESSIONS_MAX = 1_000
const LIFE_MS_MAX = 3_600_000

export interface SessionClocks {
  /** The clock by which certificates end. */
  nowMs(): number
  monotonicMs(): number
}

export interface KeptSession {
  bytes: Buffer
  /** By the monotonic clock. */
  untilMs: number
  certificateEndsAtMs: number
}

export class TlsSessions {
  readonly #clocks: SessionClocks
  readonly #kept = new BoundedMap<string, KeptSession>(SESSIONS_MAX)

  constructor(clocks: SessionClocks) {
    this.#clocks = clocks
  }

  find(key: string): KeptSession | null {
    const kept = this.#kept.get(key)
    if (kept === undefined) return null
    const isOver =
      this.#clocks.monotonicMs() >= kept.untilMs || this.#clocks.nowMs() >= kept.certificateEndsAtMs
    if (isOver) this.#kept.delete(key)
    return isOver ? null : kept
  }

  /** What the receiver gives on this socket, which offered a session or none. */
  keepFrom(socket: TLSSocket, key: string, offered: KeptSession | null): void {
    let life: Omit<KeptSession, 'bytes'> | null = null
    socket.on('session', (bytes: Buffer) => {
      life ??= offered !== null && socket.isSessionReused() ? offered : this.#begin(socket)
      if (life !== null) this.#kept.set(key, { ...life, bytes })
    })
  }

  /** After a full handshake. Several tickets may come of it, some much later: what is kept is of one moment. */
  #begin(socket: TLSSocket): Omit<KeptSession, 'bytes'> | null {
    const certificate = socket.getPeerX509Certificate()
    if (certificate === undefined) return null
    return {
      untilMs: this.#clocks.monotonicMs() + LIFE_MS_MAX,
      certificateEndsAtMs: certificate.validToDate.getTime(),
    }
  }
}
