// Who a Bearer token speaks for. A verified token is remembered by its digest until it expires
// (verifying costs 100 to 350 µs, remembering 1 µs); a refused one leaves nothing behind. The memory
// vouches for the token alone, never for its client: the client's status is asked each time.

import { hash } from 'node:crypto'
import { jwtVerify } from 'jose'
import {
  readClaims,
  readKeyId,
  TOKEN_ALGORITHM,
  TOKEN_BYTES_MAX,
  TOKEN_LEEWAY_SECONDS,
  TOKEN_TYPE,
  type TokenClaims,
} from '../../core/token.ts'
import type { Client } from '../../store/clients.ts'
import { tokenParty } from '../issue-token.ts'
import type { ClientDirectory } from './client-directory.ts'
import type { Deps } from './deps.ts'
import type { Keyring } from './keyring.ts'

const TOKENS_MAX = 20_000

/** Whoever makes a request of the client interface. */
export interface Caller {
  clientKey: number
  clientId: string
}

export class TokenVerifier {
  readonly #deps: Pick<Deps, 'clock' | 'config'>
  readonly #keyring: Keyring
  readonly #directory: ClientDirectory
  readonly #verified = new Map<string, TokenClaims>()

  constructor(
    deps: Pick<Deps, 'clock' | 'config'>,
    parts: { keyring: Keyring; directory: ClientDirectory },
  ) {
    this.#deps = deps
    this.#keyring = parts.keyring
    this.#directory = parts.directory
  }

  get remembered(): number {
    return this.#verified.size
  }

  /**
   * As `verify` answers, if that takes no asking: the token is remembered, and so is its client.
   * Undefined if it does. Nearly every request ends here, without a promise.
   */
  recall(token: string): Caller | undefined {
    // Too long to have been remembered: not even its digest is worth the time.
    if (token.length > TOKEN_BYTES_MAX) return undefined
    const known = this.#verified.get(digestOf(token))
    if (known === undefined || !this.#isAlive(known)) return undefined
    const client = this.#directory.recallActive(known.clientId)
    return client && toCaller(client)
  }

  /** Null for a token that is malformed, forged or expired, and for one of a disabled client. */
  async verify(token: string): Promise<Caller | null> {
    const claims = await this.#claimsOf(token)
    if (claims === null) return null
    const client = await this.#directory.findActive(claims.clientId)
    return client && toCaller(client)
  }

  async #claimsOf(token: string): Promise<TokenClaims | null> {
    const kid = readKeyId(token)
    if (kid === null) return null
    const digest = digestOf(token)
    const known = this.#verified.get(digest)
    if (known !== undefined) {
      if (this.#isAlive(known)) return known
      this.#verified.delete(digest)
      return null
    }
    const claims = await this.#check(token, kid)
    if (claims !== null) this.#remember(digest, claims)
    return claims
  }

  async #check(token: string, kid: string): Promise<TokenClaims | null> {
    const nowMs = this.#deps.clock.nowMs()
    const key = await this.#keyring.verifier(kid)
    if (key === null) return null
    const party = tokenParty(this.#deps.config)
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms: [TOKEN_ALGORITHM],
        typ: TOKEN_TYPE,
        issuer: party.issuer,
        audience: party.audience,
        currentDate: new Date(nowMs),
        // For the beginning only: readClaims allows nothing at the end.
        clockTolerance: TOKEN_LEEWAY_SECONDS,
      })
      return readClaims(payload, party, nowMs)
    } catch {
      return null
    }
  }

  #isAlive(claims: TokenClaims): boolean {
    return this.#deps.clock.nowMs() < claims.expiresAtMs
  }

  #remember(digest: string, claims: TokenClaims): void {
    this.#verified.set(digest, claims)
    if (this.#verified.size > TOKENS_MAX) {
      const [oldest] = this.#verified.keys()
      this.#verified.delete(oldest as string)
    }
  }
}

// Canonical spelling was checked before anything was remembered: another spelling has another digest.
function digestOf(token: string): string {
  return hash('sha256', token, 'base64')
}

function toCaller(client: Client): Caller {
  return { clientKey: client.clientKey, clientId: client.id }
}
