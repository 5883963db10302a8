// What a refused credential is told, beyond that it is refused: what its owner can know by looking at it. Only a token
// whose signature holds is told that it expired; for a forged one, and for one of a disabled client, there is one text.

import { ServiceError } from '../../core/plain/errors.ts'
import { type CredentialKind, kindOfCredential } from '../../core/proofs/credential-kind.ts'
import { TOKEN_BYTES_MAX } from '../../core/proofs/token.ts'

const GET_TOKEN = 'Get an access token from POST /auth/token'

/** Null: no more is said than that it is not valid. */
const TO_CLIENTS: Readonly<Record<CredentialKind, string | null>> = {
  'access-token': null,
  'operator-key': `This is an operator key, which works under /operator/v1 only. ${GET_TOKEN}.`,
  'client-secret': `This is a client secret, not an access token. ${GET_TOKEN} with it.`,
  'person-session': `This is the session of an operator, which works under /operator/v1 only. ${GET_TOKEN}.`,
  none: `This is not an access token. ${GET_TOKEN}. Operator keys work under /operator/v1 only.`,
}

const TO_OPERATORS: Readonly<Record<CredentialKind, string | null>> = {
  'access-token':
    'This is the access token of a client. Calls under /operator/v1 need an operator key.',
  'operator-key': null,
  'client-secret': 'This is the secret of a client. Calls under /operator/v1 need an operator key.',
  'person-session': 'The session has ended, or has no role any more: sign in again.',
  none: null,
}

/** `expiredAtMs` is null for all that is refused for another reason. */
export function refusedOfClients(token: string, expiredAtMs: number | null): ServiceError {
  if (expiredAtMs !== null) {
    const at = new Date(expiredAtMs).toISOString().replace('.000Z', 'Z')
    return invalidToken(`The token expired at ${at}. Get a new one from POST /auth/token.`)
  }
  return explain(token, TO_CLIENTS)
}

export function refusedOfOperators(key: string): ServiceError {
  return explain(key, TO_OPERATORS)
}

/** A session of the console that belongs to the other side. */
export function refusedSession(kind: 'client' | 'operator'): ServiceError {
  return invalidToken(
    kind === 'client'
      ? 'You are signed in as a client. Calls under /operator/v1 need an operator: sign in with an operator key.'
      : 'You are signed in as an operator. This call is for clients: sign in as one.',
  )
}

export function refusedHeader(): ServiceError {
  return invalidToken('This is not a token. Send one header, Authorization: Bearer <token>.')
}

function explain(token: string, texts: Readonly<Record<CredentialKind, string | null>>) {
  // No time is spent on one that is too long to be anything.
  const kind = token.length > TOKEN_BYTES_MAX ? 'none' : kindOfCredential(token)
  return invalidToken(texts[kind] ?? 'The token is malformed, forged, expired or refused.')
}

function invalidToken(detail: string): ServiceError {
  return new ServiceError('invalid-token', detail)
}
