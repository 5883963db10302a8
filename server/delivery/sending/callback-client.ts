// The guarded sender: every callback, test send and replay leaves through `send`, and nothing else
// opens a socket to a client's address. What the world does comes back as an Outcome; a failure of our
// own rejects, and was no attempt. An attempt ends within its deadline, whatever the receiver does: one
// limit (time-limit) counts the whole of it on the monotonic clock.

import type { ShownCertificate } from '../../core/certificates/shown-certificate.ts'
import type { AttemptResult } from '../../core/delivery/callback-request.ts'
import type { Outcome } from '../../core/delivery/delivery.ts'
import { DEBT_POLICY, type DebtPolicy } from '../../core/network/handshake-debts.ts'
import type { TargetPolicy } from '../../core/network/network-rules.ts'
import { ConnectionPool } from './connection-pool.ts'
import { Exchange, type ExchangeLimits, type ExchangeParts, type Posted } from './exchange.ts'
import { createGuardedConnector } from './guarded-connector.ts'
import { createResolver, type ResolveFn } from './resolver.ts'
import { Targets } from './targets.ts'
import { TlsContexts, type TlsSettings } from './tls-settings.ts'

export interface CallbackClientOptions {
  policy: TargetPolicy
  resolve?: ResolveFn
  /** By which certificates end, unless they have by this machine's own, which OpenSSL takes. */
  nowMs?: () => number
  monotonicMs?: () => number
  /** As the engine's: a machine that slept must not send what it began before. */
  cautiousMs?: () => number
  /** DNS, TCP and TLS together. */
  connectTimeoutMs?: number
  /** From `send` to the last byte read, waiting for a connection included. */
  deadlineMs?: number
  /** How long, and how much, of an answer's body is read; how much is kept. */
  bodyTimeMs?: number
  bodyBytesMax?: number
  excerptBytesMax?: number
  extraCa?: string
  /** How much the TLS handshakes with a client's receivers may cost. */
  debtPolicy?: DebtPolicy
  connectionsPerOrigin?: number
  socketsMax?: number
  idleMsMax?: number
  ageMsMax?: number
}

export class CallbackClient {
  readonly #pool: ConnectionPool
  readonly #parts: ExchangeParts
  readonly #contexts: TlsContexts
  readonly #targets: Targets
  #runningCount = 0
  #isClosed = false
  #onIdle: (() => void) | null = null

  constructor(options: CallbackClientOptions) {
    const monotonicMs = options.monotonicMs ?? (() => performance.now())
    this.#targets = new Targets(options.policy)
    const limits: ExchangeLimits = {
      monotonicMs,
      cautiousMs: options.cautiousMs ?? monotonicMs,
      deadlineMs: options.deadlineMs ?? 15_000,
      bodyTimeMs: options.bodyTimeMs ?? 2_000,
      bodyBytesMax: options.bodyBytesMax ?? 16 * 1024,
      excerptBytesMax: options.excerptBytesMax ?? 4 * 1024,
    }
    const contexts = new TlsContexts(options.extraCa)
    this.#contexts = contexts
    this.#pool = new ConnectionPool({
      connect: createGuardedConnector({
        policy: options.policy,
        resolve: options.resolve ?? createResolver(),
        nowMs: () => Math.max(options.nowMs?.() ?? 0, performance.timeOrigin + performance.now()),
        monotonicMs,
        debtPolicy: options.debtPolicy ?? DEBT_POLICY,
        connectTimeoutMs: options.connectTimeoutMs ?? 5_000,
        secureContext: contexts.usual(),
      }),
      monotonicMs,
      connectionsPerOrigin: options.connectionsPerOrigin ?? 64,
      socketsMax: options.socketsMax ?? 4_096,
      idleMsMax: options.idleMsMax ?? 4_000,
      ageMsMax: options.ageMsMax ?? 300_000,
    })
    this.#parts = { pool: this.#pool, limits, onEnded: () => this.#end() }
  }

  /** Sockets open or opening. */
  get socketCount(): number {
    return this.#pool.openCount
  }

  /** Pairs of client and origin that hold a connection, or wait for one. */
  get poolCount(): number {
    return this.#pool.poolCount
  }

  /** For endpoints that ask for more than the usual. */
  tlsSettings(shown: ShownCertificate | null, authorities: readonly string[] | null): TlsSettings {
    return this.#contexts.settingsOf(shown, authorities)
  }

  /** For attempts that are more than one exchange. */
  get limits(): ExchangeLimits {
    return this.#parts.limits
  }

  /** Rejects only if nothing was sent: for want of a socket of ours, or of time under the lease. */
  send(request: Posted): Promise<AttemptResult> {
    const target = this.#targets.of(request.url, request.tlsSettings ?? null)
    if (target === null) return refused({ kind: 'blocked', reason: 'blocked-address' })
    if (this.#isClosed) return refused({ kind: 'unreachable', reason: 'connect-error' })
    this.#runningCount += 1
    return new Promise((resolve, reject) => {
      new Exchange(this.#parts, target, request, resolve, reject).start()
    })
  }

  /** Takes no more; resolves when what is running has ended, which its deadline bounds. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#runningCount > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve
      })
    }
    this.#pool.dropIdle()
  }

  #end(): void {
    this.#runningCount -= 1
    if (this.#runningCount === 0) this.#onIdle?.()
  }
}

function refused(outcome: Outcome): Promise<AttemptResult> {
  return Promise.resolve({ outcome, durationMs: 0 })
}
