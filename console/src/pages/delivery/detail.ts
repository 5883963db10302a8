// What an attempt came to, in words.

import type { DeliveryAttempt } from '../../api/types.ts'

/** Why an attempt was, or was not, the last one. Only 200 counts, which surprises people. */
export function describeAnswer({
  status,
  error,
}: Pick<DeliveryAttempt, 'status' | 'error'>): string {
  if (status === null) return REASONS[error ?? ''] ?? error ?? 'No answer'
  if (status === 200) return 'Accepted'
  if (status < 300) return `${status} is not 200: retried`
  if (status < 400) return 'Redirects are not followed: retried'
  return 'Retried'
}

const REASONS: Readonly<Record<string, string>> = {
  timeout: 'No answer in time',
  'connect-error': 'The connection was refused',
  'no-address': 'The host has no address that callbacks may be sent to',
  'dns-error': 'The name of the host has no address',
  'tls-error': 'The certificate is not valid, or no handshake',
  'connection-reset': 'The connection was lost before an answer',
  'protocol-error': 'The answer was no HTTP',
  'blocked-address': 'The address must not be reached',
}
