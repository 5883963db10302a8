// Checks logins. An unknown client and a wrong secret get the same answer after the same work: one query,
// answered with rows of one shape, and two HMACs. Failures are counted (login-attempts.ts).

import { ServiceError } from '../../core/plain/errors.ts'
import { isUuid, NIL_UUID } from '../../core/plain/uuid.ts'
import { GatheredReads } from '../../store/connection/gathered-reads.ts'
import { findRefusedClient } from '../../store/moves/move-fence.ts'
import {
  type Credentials,
  readCredentials,
  replaceDigest,
} from '../../store/secrets/client-secrets.ts'
import type { Deps } from '../shared/deps.ts'
import { OF_REQUESTS } from '../shared/gather-requests.ts'
import type { LoginAttempts } from './login-attempts.ts'

export interface Login {
  clientId: string
  clientSecret: string
  /** Where the request came from. */
  address: string
}

/** The client, and which of its secrets it has used. */
export interface CheckedLogin {
  clientId: string
  clientKey: number
  secretId: string
}

type LoginDeps = Pick<Deps, 'pool' | 'sealer'>

export class Logins {
  readonly #deps: LoginDeps
  readonly #attempts: LoginAttempts
  /** By client id. Logins at the same time, of known and unknown clients, share one statement. */
  readonly #credentials: GatheredReads<string, Credentials>

  constructor(deps: LoginDeps, attempts: LoginAttempts) {
    this.#deps = deps
    this.#attempts = attempts
    this.#credentials = new GatheredReads({
      ...OF_REQUESTS,
      read: (clientIds) => {
        const { pool, sealer } = this.#deps
        const dummy = { digest: Buffer.alloc(32), masterKeyId: sealer.digestKeyId }
        return readCredentials(pool, clientIds, dummy)
      },
      keyOf: (clientId) => clientId,
    })
  }

  /** Throws when the credentials are wrong. */
  async check(login: Login): Promise<CheckedLogin> {
    // Ids that cannot be a client's count as one, so that memory does not grow with made-up ids.
    const clientId = isUuid(login.clientId) ? login.clientId.toLowerCase() : NIL_UUID
    let isOfKeysOnly = false
    const match = await this.#attempts.judge(
      { name: clientId, address: login.address },
      async () => {
        const found = await this.#checkSecret(clientId, login.clientSecret)
        if (found !== 'keys-only') return found
        isOfKeysOnly = true
        return null
      },
    )
    if (match !== null) return { clientId, ...match }
    // Who does not have the secret is not told which clients these are.
    if (isOfKeysOnly) {
      throw new ServiceError(
        'keys-only',
        'This client gets tokens with its keys only: its secrets no longer count. Sign in with its private key.',
      )
    }
    throw new ServiceError('invalid-credentials', 'The clientId or the clientSecret is wrong.')
  }

  /** `keys-only` where the secret is right, and no longer counts. */
  async #checkSecret(
    clientId: string,
    secret: string,
  ): Promise<{ clientKey: number; secretId: string } | 'keys-only' | null> {
    const { clientKey, status, credentials, secrets } = await this.#credentials.ask(clientId)
    const { pool, sealer } = this.#deps
    // All are compared, also after a match: the time does not show which one it was.
    const matching = secrets.filter((stored) =>
      sealer.matches(secret, stored.digest, stored.masterKeyId),
    )
    const [match] = matching
    if (match === undefined || status !== 'ACTIVE') return null
    if (credentials === 'keys') return 'keys-only'
    if (!sealer.isCurrent(match.masterKeyId)) {
      // Only now is the secret known: rehashed under the current key, it no longer needs the old one.
      const digest = sealer.digest(secret)
      const masterKeyId = sealer.digestKeyId
      const replaced = { id: match.id, digest, masterKeyId }
      // While the client is copied to another cell, it stays as it is: a later login does it there.
      await replaceDigest(pool, clientKey, replaced).catch((error: unknown) => {
        if (findRefusedClient(error) === null) throw error
      })
    }
    return { clientKey, secretId: match.id }
  }
}
