// TLS sessions that can be taken up again: a handshake with one costs a round trip and some CPU less. But nobody verifies
// a certificate then. So a session ends with the first certificate to end of those that its full handshake verified, and an
// hour after that handshake began at the latest; the tickets of a session that was taken up end with it (RFC 8446 §4.6.1).

import type { DetailedPeerCertificate, TLSSocket } from 'node:tls'
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

  /** What the receiver gives on this socket, which begins now, and offers a session or none. */
  keepFrom(socket: TLSSocket, key: string, offered: KeptSession | null): void {
    const untilMs = this.#clocks.monotonicMs() + LIFE_MS_MAX
    let life: Omit<KeptSession, 'bytes'> | null = null
    // Several tickets may come of one handshake, some much later.
    socket.on('session', (bytes: Buffer) => {
      const isReused = offered !== null && socket.isSessionReused()
      life ??= isReused ? offered : { untilMs, certificateEndsAtMs: firstEndOf(socket) }
      this.#kept.set(key, { ...life, bytes })
    })
  }
}

/** Of the receiver's certificate and of all that stand for it, up to the authority that is believed. */
function firstEndOf(socket: TLSSocket): number {
  let end = Number.POSITIVE_INFINITY
  const seen = new Set<DetailedPeerCertificate>()
  let certificate: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true)
  // An authority is its own issuer.
  while (certificate !== undefined && !seen.has(certificate)) {
    seen.add(certificate)
    end = Math.min(end, Date.parse(certificate.valid_to) || 0)
    certificate = certificate.issuerCertificate
  }
  return end
}
