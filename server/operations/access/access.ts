// Authentication, as one process knows it. Made once and given to every server of the process: with an
// operator port there are two, and what one of them learns (a failed login, a revoked key, a sign-out)
// holds at the other at once.

import type { Deps } from '../shared/deps.ts'
import { AssertionLogins } from './assertion-logins.ts'
import { ClientDirectory } from './client-directory.ts'
import { ConsoleSessions } from './console-session.ts'
import { Keyring } from './keyring.ts'
import { OperatorKeys } from './live-operator-keys.ts'
import { LoginAttempts } from './login-attempts.ts'
import { Logins } from './logins.ts'
import { ClientMoves } from './move-checks.ts'
import { TokenVerifier } from './verify-token.ts'

export interface Access {
  keys: OperatorKeys
  logins: Logins
  assertions: AssertionLogins
  keyring: Keyring
  tokens: TokenVerifier
  sessions: ConsoleSessions
  moves: ClientMoves
}

export function createAccess(deps: Deps): Access {
  const keys = new OperatorKeys(deps)
  // One count of failures for all sign-ins: a guesser gains nothing by trying another one.
  const attempts = new LoginAttempts(deps)
  const logins = new Logins(deps, attempts)
  const assertions = new AssertionLogins(deps, attempts)
  const keyring = new Keyring(deps)
  const tokens = new TokenVerifier(deps, { keyring, directory: new ClientDirectory(deps) })
  const sessions = new ConsoleSessions(deps, { keys, attempts, logins })
  return { keys, logins, assertions, keyring, tokens, sessions, moves: new ClientMoves(deps) }
}
