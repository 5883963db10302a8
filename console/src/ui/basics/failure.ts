// Why an attempt got no answer, in words. Each step on the way to the receiver has its own.

/** What was answered, and what has no words here, stays as it is. */
export function describeFailure(code: string | null): string {
  return REASONS[code ?? ''] ?? code ?? 'No answer'
}

const REASONS: Readonly<Record<string, string>> = {
  timeout: 'No answer in time',
  'connect-error': 'Connection refused',
  'no-address': 'The host has no public address',
  'dns-error': 'The host name has no address',
  'tls-error': 'Invalid certificate or failed handshake',
  'tls-name': 'The certificate is for another name',
  'tls-authority': 'No trusted authority signed the certificate',
  'certificate-refused': 'The client certificate was refused',
  'certificate-missing': 'The client certificate is not there',
  'token-refused': 'The token endpoint gave no token',
  'token-unreachable': 'The token endpoint did not answer',
  'connection-reset': 'The connection was closed before the response',
  'protocol-error': 'The response is not HTTP',
  'blocked-address': 'The address is blocked',
  'undecryptable-key': 'The stored key cannot be decrypted',
  'payload-missing': 'The event is no longer stored',
  'invalid-header': 'The extra header is invalid',
}
