// A short-lived access token for a client that has proven who it is.

import type { Config } from '../../config/config.ts'
import { TOKEN_TYPE, type TokenParty } from '../../core/proofs/token.ts'
import type { SigningPair } from '../../core/signatures/asymmetric-signature.ts'
import type { Deps } from '../shared/deps.ts'
import { signJws } from './sign-jws.ts'

export interface IssuedToken {
  token: string
  lifetimeSeconds: number
}

const AUDIENCE = 'paybell-api'

/** Whose tokens are taken. All processes must agree, whatever port each listens on. */
export function tokenParty(config: Pick<Config, 'baseUrl'>): TokenParty {
  return { issuer: config.baseUrl, audience: AUDIENCE }
}

export async function issueToken(
  deps: Pick<Deps, 'clock' | 'config' | 'newId'>,
  parts: {
    keyring: { signer(): Promise<SigningPair> }
    issuer: { name(): Promise<string> }
  },
  clientId: string,
): Promise<IssuedToken> {
  const signer = await parts.keyring.signer()
  const issuedAt = Math.floor(deps.clock.nowMs() / 1_000)
  const lifetimeSeconds = deps.config.tokenTtlSeconds
  const token = signJws(signer, TOKEN_TYPE, {
    iss: await parts.issuer.name(),
    aud: AUDIENCE,
    sub: clientId,
    iat: issuedAt,
    nbf: issuedAt,
    exp: issuedAt + lifetimeSeconds,
    jti: deps.newId(),
  })
  return { token, lifetimeSeconds }
}
