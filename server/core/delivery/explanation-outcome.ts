// What an attempt came to, as a sentence of an explanation.

import { toClientCode } from './delivery.ts'
import { type ExplanationPart, part } from './explanation-part.ts'

/** `what` is the subject: "Attempt 6 of about 40". */
export function describeOutcome(
  what: string,
  { outcome, status }: { outcome: string; status: number | null },
  reader: 'client' | 'operator',
): ExplanationPart[] {
  if (outcome === 'answered' && status !== null) return describeAnswer(what, status)
  const code = reader === 'client' ? toClientCode(outcome) : outcome
  const meaning = OUTCOMES[code] ?? `failed (${code}).`
  return [part('last-attempt', `${what} ${meaning}`)]
}

function describeAnswer(what: string, status: number): ExplanationPart[] {
  const got = (text: string) => part('last-attempt', `${what} got ${status}${text}`)
  if (status === 200) return [got('.')]
  if (status >= 200 && status < 300) {
    return [got('.'), part('only-200', 'Only 200 counts as delivered.')]
  }
  if (status >= 300 && status < 400) {
    return [got(', a redirect.'), part('redirect-not-followed', 'Redirects are not followed.')]
  }
  if (status === 410) {
    const text = 'A 410 is retried too: delete the endpoint to stop its callbacks.'
    return [got('.'), part('gone-is-retried', text)]
  }
  return [got(status === 429 ? ' (too many requests).' : '.')]
}

const OUTCOMES: Readonly<Record<string, string>> = {
  timeout: 'timed out.',
  'connect-error': 'could not connect: the connection was refused, or the host is unreachable.',
  'no-address': 'could not be sent: the host name has no public address.',
  'dns-error': 'could not be sent: the host name has no address.',
  'tls-error': 'failed at TLS: the certificate is invalid, or the handshake failed.',
  'tls-name': 'failed at TLS: the certificate of the receiver is for another name.',
  'tls-authority':
    'failed at TLS: no trusted authority has signed the certificate of the receiver, or its chain is incomplete.',
  'certificate-refused':
    'was refused at TLS: the receiver asks for a client certificate, and does not take what it is shown.',
  'certificate-missing':
    'could not be sent: the client certificate that the endpoint asks for is not there.',
  'token-refused': 'could not be sent: the token endpoint gave no token that can be used.',
  'token-unreachable':
    'could not be sent: the token endpoint could not be reached, or failed itself.',
  'connection-reset': 'failed: the connection was closed before the response.',
  'protocol-error': 'failed: the response is not HTTP.',
  'blocked-address':
    'was blocked: the host name leads to an address that callbacks must not reach.',
  'undecryptable-key': 'could not be signed: the stored key cannot be decrypted.',
  'payload-missing': 'could not be sent: the event is no longer stored.',
  'invalid-header': 'could not be sent: the extra header is invalid.',
}
