// From an error of undici, of a socket or of our own connector to the Outcome that is recorded.
// Total: an unforeseen error is a reset connection, retried like any other.

import { errors } from 'undici'
import type { Outcome, UnreachableReason } from '../../core/delivery/delivery.ts'
import { ConnectFailure } from './guarded-connector.ts'

const PROTOCOL_ERROR: Outcome = { kind: 'unreachable', reason: 'protocol-error' }

export function toFailedOutcome(error: unknown): Outcome {
  if (error instanceof ConnectFailure) return error.outcome
  const { code, message } = toFacts(error)
  // Undici refuses a header that it cannot send before anything is written; a TypeError is the same
  // of a header that is no string at all.
  if (
    code === 'UND_ERR_INVALID_ARG' ||
    code === 'UND_ERR_NOT_SUPPORTED' ||
    error instanceof TypeError
  ) {
    return { kind: 'unsendable', reason: 'invalid-header' }
  }
  // By class: the parser's errors carry no code in this version of undici.
  if (error instanceof errors.HTTPParserError) return PROTOCOL_ERROR
  return { kind: 'unreachable', reason: reasonOf(code, message) }
}

function reasonOf(code: string, message: string): UnreachableReason {
  if (code === 'ETIMEDOUT') return 'timeout'
  // Undici reports a length that contradicts itself within the header as a mismatch.
  if (code === 'UND_ERR_HEADERS_OVERFLOW' || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') {
    return 'protocol-error'
  }
  // Undici's word for a 101 without an upgrade, or an answer before the request.
  if (code === 'UND_ERR_SOCKET' && message.startsWith('bad ')) return 'protocol-error'
  // A server that wants a certificate from us says so only after the handshake (TLS 1.3).
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_')) {
    return 'tls-error'
  }
  return 'connection-reset'
}

function toFacts(error: unknown): { code: string; message: string } {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  return { code: String(code ?? ''), message: String(message ?? '') }
}
