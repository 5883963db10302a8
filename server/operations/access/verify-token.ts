// Which client a Bearer token belongs to. A verified token is remembered by its digest until it expires
// (verifying costs 100 to 350 µs, a look-up 1 µs); a refused one is not remembered. Only the token is
// remembered, not its client's status nor its key, which are asked for each time.

import { hash } from 'node:crypto'
import { errors, jwtVerify } from 'jose'
import { Remembered } from '../../core/plain/remembered.ts'
import {
  readClaims,
  readKeyId,
  TOKEN_ALGORITHM,
  TOKEN_BYTES_MAX,
  TOKEN_LEEWAY_SECONDS,
  TOKEN_TYPE,
  type TokenClaims,
} from '../../core/proofs/token.ts'
import type { Deps } from '../shared/deps.ts'
import type { ClientDirectory } from './client-directory.ts'
import { tokenParty } from './issue-token.ts'
import type { Keyring } from './keyring.ts'

const TOKENS_MAX = 20_000

/** Who makes a request of the client interface. */
export interface Caller {
  clientKey: number
  clientId: string
}

/** Who sent the token. A token that is not taken says when it expired, if that is the only reason. */
export type VerifiedToken =
  | { caller: Caller; expiredAtMs: null }
  | { caller: null; expiredAtMs: number | null }

interface SignedClaims extends TokenClaims {
  /** The key that signed it. */
  kid: string
}

const REFUSED: VerifiedToken = { caller: null, expiredAtMs: null }

export class TokenVerifier {
  readonly #deps: Pick<Deps, 'clock' | 'config'>
  readonly #keyring: Keyring
  readonly #directory: ClientDirectory
  /** By the token's digest. Expiry is compared with the service's clock, which may be set. */
  readonly #verified = new Remembered<string, SignedClaims | null>({
    keysMax: TOKENS_MAX,
    isKept: (claims) => claims !== null,
  })

  constructor(
    deps: Pick<Deps, 'clock' | 'config'>,
    parts: { keyring: Keyring; directory: ClientDirectory },
  ) {
    this.#deps = deps
    this.#keyring = parts.keyring
    this.#directory = parts.directory
  }

  /** No caller for a token that is malformed, forged or expired, and for one of a disabled client. */
  async verify(token: string): Promise<VerifiedToken> {
    // Do not spend time on the digest of a token that is too long.
    if (token.length > TOKEN_BYTES_MAX) return REFUSED
    const digest = digestOf(token)
    const claims = await this.#verified.get(digest, () => this.#check(token))
    if (claims === null) return REFUSED
    const isExpired = this.#deps.clock.nowMs() >= claims.expiresAtMs
    // Its key may have been revoked since.
    const isSigned = (await this.#keyring.verifier(claims.kid)) !== null
    if (isExpired || !isSigned) this.#verified.forget(digest)
    if (!isSigned) return REFUSED
    if (isExpired) return { caller: null, expiredAtMs: claims.expiresAtMs }
    const client = await this.#directory.findActive(claims.clientId)
    if (client === null) return REFUSED
    return { caller: { clientKey: client.clientKey, clientId: client.id }, expiredAtMs: null }
  }

  async #check(token: string): Promise<SignedClaims | null> {
    const kid = readKeyId(token)
    const claims = kid === null ? null : await this.#verifyUnder(kid, token)
    return claims && { ...claims, kid: kid as string }
  }

  async #verifyUnder(kid: string, token: string): Promise<TokenClaims | null> {
    const nowMs = this.#deps.clock.nowMs()
    const key = await this.#keyring.verifier(kid)
    if (key === null) return null
    const party = tokenParty(this.#deps.config)
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms: [TOKEN_ALGORITHM],
        typ: TOKEN_TYPE,
        audience: party.audience,
        currentDate: new Date(nowMs),
        // Tolerance for the beginning only: `verify` allows none at the end.
        clockTolerance: TOKEN_LEEWAY_SECONDS,
      })
      return readClaims(payload, party, nowMs)
    } catch (error) {
      // The signature and all else hold: jose looks at the end last.
      if (error instanceof errors.JWTExpired) return readClaims(error.payload, party, nowMs)
      return null
    }
  }
}

// Spelling was checked before the token was remembered: another spelling has another digest.
function digestOf(token: string): string {
  return hash('sha256', token, 'base64')
}
