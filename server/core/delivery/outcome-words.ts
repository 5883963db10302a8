// What an attempt that got no answer came to, in the words that everyone reads: lists, explanations, checks, the command
// line and the console take them from here, so that a client and its operator speak of the same thing. A cause from
// inside the operator's network has the client's words, and its own code stands behind them for the operator alone.

interface OutcomeWords {
  /** After "failed:", or alone in a list. */
  words: string
  /** A sentence, for those who want to know more. */
  why?: string
  /** The client's code, where it must not see this one. */
  seenAs?: 'no-address'
}

/**
 * A name that is unknown and one that leads only to forbidden addresses are one and the same to a client: clients choose
 * names, and the difference would tell them which exist in the operator's own network.
 */
const NO_ADDRESS = 'no public address'

/** By their codes, as they are stored. */
const FAILURES = {
  'dns-error': { words: NO_ADDRESS, why: 'The host name has no address.', seenAs: 'no-address' },
  'connect-error': {
    words: 'could not connect',
    why: 'The connection was refused, or the host is unreachable.',
  },
  'tls-error': { words: 'TLS error', why: 'The certificate is invalid, or the handshake failed.' },
  'tls-name': { words: 'certificate for another name' },
  'tls-authority': {
    words: 'certificate from an unknown authority',
    why: 'No trusted authority has signed it, or its chain is incomplete.',
  },
  'tls-too-costly': {
    words: 'TLS handshake too costly',
    why: 'Its certificates are too many, have unusual keys, or take too long to verify.',
  },
  'certificate-refused': {
    words: 'client certificate refused',
    why: 'The receiver asks for one, and does not take what it is shown.',
  },
  'connection-reset': { words: 'connection closed before the response' },
  timeout: { words: 'timed out' },
  'protocol-error': { words: 'response is not HTTP' },
  'blocked-address': {
    words: NO_ADDRESS,
    why: 'The host name leads to an address that callbacks must not reach.',
    seenAs: 'no-address',
  },
  'undecryptable-key': {
    words: 'stored key cannot be decrypted',
    why: 'A master key is missing, or the address is not the one that was registered. Nothing is sent.',
  },
  'payload-missing': { words: 'event no longer stored' },
  'invalid-header': { words: 'extra header is invalid' },
  'certificate-missing': {
    words: 'client certificate missing',
    why: 'The one that the endpoint asks for is not there, or is not for this client.',
  },
  'token-refused': {
    words: 'token refused',
    why: 'The token endpoint gave no token that can be used.',
  },
  'token-unreachable': {
    words: 'token endpoint not reached',
    why: 'It could not be reached, or failed itself.',
  },
} as const satisfies Readonly<Record<string, OutcomeWords>>

export type FailureCode = keyof typeof FAILURES

const OUTCOMES: Readonly<Record<string, OutcomeWords>> = {
  ...FAILURES,
  'no-address': {
    words: NO_ADDRESS,
    why: 'The host name has none that callbacks may be sent to.',
  },
}

/** As an operator sees them. */
export const FAILURE_CODES = Object.keys(FAILURES) as readonly FailureCode[]

/** As its client sees it. */
export function toClientCode(code: string): string {
  return OUTCOMES[code]?.seenAs ?? code
}

/** What a client can be shown. */
export const CLIENT_CODES: readonly string[] = [...new Set(FAILURE_CODES.map(toClientCode))]

/** The same for everyone. What was answered, and a code of a newer service, stay as they are. */
export function outcomeWords(outcome: string): string {
  return OUTCOMES[outcome]?.words ?? outcome
}

/** Alone in a list: `answered 503`, `timed out`; for an operator `no public address (dns-error)`. */
export function outcomeText(outcome: string): string {
  const words = outcomeWords(outcome)
  return toClientCode(outcome) === outcome ? words : `${words} (${outcome})`
}

export function outcomeWhy(code: string): string | null {
  return OUTCOMES[code]?.why ?? null
}
