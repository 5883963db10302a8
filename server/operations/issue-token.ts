// Credentials in, a short-lived access token out. An unknown client and a wrong secret get the same
// answer after the same work: one query, two HMACs. Failures are counted per client id and address,
// so that guessing is slow and the rightful owner, who is elsewhere, is never locked out.

import { SignJWT } from 'jose'
import type { Config } from '../config.ts'
import { ServiceError } from '../core/errors.ts'
import { TOKEN_ALGORITHM, TOKEN_TYPE, type TokenParty } from '../core/token.ts'
import { isUuid, NIL_UUID } from '../core/uuid.ts'
import { readCredentials, replaceDigest } from '../store/client-secrets.ts'
import type { Deps } from './deps.ts'
import type { Keyring } from './keyring.ts'
import { RateBuckets } from './rate-buckets.ts'

export interface Login {
  clientId: string
  clientSecret: string
  /** Where the request came from. */
  address: string
}

export interface IssuedToken {
  token: string
  lifetimeSeconds: number
}

/** Failed logins: ten at once, then one in five seconds. */
export function createLoginBuckets(deps: Pick<Deps, 'clock'>): RateBuckets {
  return new RateBuckets({
    burst: 10,
    perSecond: 0.2,
    keysMax: 50_000,
    monotonicMs: () => deps.clock.monotonicMs(),
  })
}

/** All processes must agree, whatever port each listens on. */
export function tokenParty(config: Pick<Config, 'baseUrl'>): TokenParty {
  return { issuer: config.baseUrl ?? 'paybell', audience: 'paybell-api' }
}

export async function issueToken(
  deps: Deps,
  parts: { keyring: Keyring; failures: RateBuckets },
  login: Login,
): Promise<IssuedToken> {
  const { clientId } = await checkLogin(deps, parts.failures, login)
  return signToken(deps, parts.keyring, clientId)
}

/** Who logs in, and with which of its secrets; throws when the credentials are wrong. */
export interface CheckedLogin {
  clientId: string
  clientKey: number
  secretId: string
}

export async function checkLogin(
  deps: LoginDeps,
  failures: RateBuckets,
  login: Login,
): Promise<CheckedLogin> {
  // Ids that cannot be a client's share a bucket: a key never grows with what was sent.
  const clientId = isUuid(login.clientId) ? login.clientId.toLowerCase() : NIL_UUID
  const bucket = `${clientId} ${login.address}`
  const waitSeconds = failures.waitSeconds(bucket)
  if (waitSeconds > 0) {
    throw new ServiceError('too-many-requests', 'Too many failed logins. Wait, then try again.', {
      retryAfterSeconds: waitSeconds,
    })
  }
  const match = await checkSecret(deps, clientId, login.clientSecret)
  if (match === null) {
    failures.take(bucket)
    throw new ServiceError('invalid-credentials', 'The clientId or the clientSecret is wrong.')
  }
  return { clientId, ...match }
}

type LoginDeps = Pick<Deps, 'pool' | 'sealer'>

async function checkSecret(
  deps: LoginDeps,
  clientId: string,
  secret: string,
): Promise<{ clientKey: number; secretId: string } | null> {
  const dummy = { digest: Buffer.alloc(32), masterKeyId: deps.sealer.writeKeyId }
  const { clientKey, status, secrets } = await readCredentials(deps.pool, clientId, dummy)
  // All of them are compared, the right one too: the time does not tell which it was.
  const matching = secrets.filter((stored) =>
    deps.sealer.matches(secret, stored.digest, stored.masterKeyId),
  )
  const [match] = matching
  if (match === undefined || status !== 'ACTIVE') return null
  if (match.masterKeyId !== deps.sealer.writeKeyId) {
    // The only moment at which the secret is known: from now on the old master key is not needed.
    const digest = deps.sealer.digest(secret)
    const masterKeyId = deps.sealer.writeKeyId
    await replaceDigest(deps.pool, clientKey, { id: match.id, digest, masterKeyId })
  }
  return { clientKey, secretId: match.id }
}

async function signToken(deps: Deps, keyring: Keyring, clientId: string): Promise<IssuedToken> {
  const { kid, key } = await keyring.signer()
  const party = tokenParty(deps.config)
  const issuedAt = Math.floor(deps.clock.nowMs() / 1_000)
  const lifetimeSeconds = deps.config.tokenTtlSeconds
  const token = await new SignJWT()
    .setProtectedHeader({ alg: TOKEN_ALGORITHM, typ: TOKEN_TYPE, kid })
    .setIssuer(party.issuer)
    .setAudience(party.audience)
    .setSubject(clientId)
    .setIssuedAt(issuedAt)
    .setNotBefore(issuedAt)
    .setExpirationTime(issuedAt + lifetimeSeconds)
    .setJti(deps.newId())
    .sign(key)
  return { token, lifetimeSeconds }
}
