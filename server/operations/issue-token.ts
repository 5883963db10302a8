// Credentials in, a short-lived access token out.

import { sign } from 'node:crypto'
import type { Config } from '../config/config.ts'
import { TOKEN_ALGORITHM, TOKEN_TYPE, type TokenParty } from '../core/token.ts'
import type { Deps } from './parts/deps.ts'
import type { Keyring, Signer } from './parts/keyring.ts'
import type { Login, Logins } from './parts/logins.ts'

export interface IssuedToken {
  token: string
  lifetimeSeconds: number
}

/** All processes must agree, whatever port each listens on. */
export function tokenParty(config: Pick<Config, 'baseUrl'>): TokenParty {
  return { issuer: config.baseUrl ?? 'paybell', audience: 'paybell-api' }
}

export async function issueToken(
  deps: Pick<Deps, 'clock' | 'config' | 'newId'>,
  parts: { keyring: Pick<Keyring, 'signer'>; logins: Pick<Logins, 'check'> },
  login: Login,
): Promise<IssuedToken> {
  const { clientId } = await parts.logins.check(login)
  const signer = await parts.keyring.signer()
  const party = tokenParty(deps.config)
  const issuedAt = Math.floor(deps.clock.nowMs() / 1_000)
  const lifetimeSeconds = deps.config.tokenTtlSeconds
  const token = signToken(signer, {
    iss: party.issuer,
    aud: party.audience,
    sub: clientId,
    iat: issuedAt,
    nbf: issuedAt,
    exp: issuedAt + lifetimeSeconds,
    jti: deps.newId(),
  })
  return { token, lifetimeSeconds }
}

/** RFC 7515 §3.1. At once: handing an Ed25519 signature to another thread costs more than making it. */
function signToken({ kid, key }: Signer, claims: object): string {
  const header = { alg: TOKEN_ALGORITHM, typ: TOKEN_TYPE, kid }
  const signed = `${toBase64Url(header)}.${toBase64Url(claims)}`
  return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`
}

function toBase64Url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
