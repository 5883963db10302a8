// Opens one connection the way a callback would, through the same guarded connector, and closes it
// without a byte of HTTP: whether an address can be reached from here, and if not, why.

import type { Outcome } from '../../../server/core/delivery/delivery.ts'
import { DEBT_POLICY } from '../../../server/core/network/handshake-debts.ts'
import type { TargetPolicy } from '../../../server/core/network/network-rules.ts'
import {
  ConnectFailure,
  createGuardedConnector,
} from '../../../server/delivery/sending/guarded-connector.ts'
import { createResolver, type ResolveFn } from '../../../server/delivery/sending/resolver.ts'
import { TlsContexts } from '../../../server/delivery/sending/tls-settings.ts'

export interface TryOptions {
  policy: TargetPolicy
  extraCa?: string | undefined
  connectTimeoutMs?: number
  resolve?: ResolveFn
}

/** Null when it works, otherwise the reason, as deliveries tell it. */
export async function connectAsCallback(url: string, options: TryOptions): Promise<string | null> {
  const { protocol, hostname, port } = new URL(url)
  const connect = createGuardedConnector({
    policy: options.policy,
    resolve: options.resolve ?? createResolver(),
    nowMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    debtPolicy: DEBT_POLICY,
    connectTimeoutMs: options.connectTimeoutMs ?? 5_000,
    secureContext: new TlsContexts(options.extraCa).usual(),
  })
  const target = {
    protocol,
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port,
    tls: null,
    clientKey: 0,
    // Nothing is asked, so nothing is read.
    onBytes: () => {},
  }
  return new Promise((resolve) => {
    connect(target, (error, socket) => {
      socket?.destroy()
      resolve(error === null ? null : reasonOf(error))
    })
  })
}

function reasonOf(error: Error): string {
  if (!(error instanceof ConnectFailure)) return 'connect-error'
  const outcome: Outcome = error.outcome
  return outcome.kind === 'answered' ? 'connect-error' : outcome.reason
}
