// From an error of a socket, of our reader of answers or of our own connector to the Outcome that is recorded.
// Total: an unforeseen error is a reset connection, retried like any other.

import type { Outcome, UnreachableReason } from '../../core/delivery/delivery.ts'
import { HandshakeRefused } from '../handshake/gated-tls.ts'
import { BrokenAnswer } from './answer-lines.ts'
import { ConnectFailure } from './guarded-connector.ts'
import { reasonOfRefusal, toTlsReason } from './tls-failure.ts'

export function toFailedOutcome(error: unknown): Outcome {
  if (error instanceof ConnectFailure) return error.outcome
  if (error instanceof BrokenAnswer) return { kind: 'unreachable', reason: 'protocol-error' }
  if (error instanceof HandshakeRefused) {
    return { kind: 'unreachable', reason: reasonOfRefusal(error) }
  }
  const { code } = (error ?? {}) as { code?: unknown }
  return { kind: 'unreachable', reason: reasonOf(String(code ?? '')) }
}

function reasonOf(code: string): UnreachableReason {
  if (code === 'ETIMEDOUT') return 'timeout'
  // A server that wants a certificate from us says so only after the handshake (TLS 1.3).
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_')) {
    return toTlsReason(code)
  }
  return 'connection-reset'
}
