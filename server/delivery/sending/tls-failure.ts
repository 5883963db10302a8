// Which step of TLS failed, of the error that Node or OpenSSL gives it: the receiver's name, whose word vouches for it,
// or the certificate that it was shown. A receiver may say the last only after the handshake (TLS 1.3).

import type { UnreachableReason } from '../../core/delivery/delivery.ts'
import type { HandshakeRefused } from '../handshake/gated-tls.ts'

const NAME = 'ERR_TLS_CERT_ALTNAME_INVALID'

const AUTHORITY: ReadonlySet<string> = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'CERT_UNTRUSTED',
  'INVALID_CA',
])

/** Alerts by which a receiver refuses what it was shown, or that it was shown nothing (RFC 8446 §6.2). */
const REFUSAL =
  /_ALERT_(?:BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_\w+|UNKNOWN_CA|ACCESS_DENIED|DECRYPT_ERROR)$/

/** Of what we did not hand on to OpenSSL. */
export function reasonOfRefusal({ why }: HandshakeRefused): UnreachableReason {
  return why === 'too-costly' ? 'tls-too-costly' : 'tls-error'
}

export function toTlsReason(code: string): UnreachableReason {
  if (code === NAME) return 'tls-name'
  if (AUTHORITY.has(code)) return 'tls-authority'
  return REFUSAL.test(code) ? 'certificate-refused' : 'tls-error'
}
