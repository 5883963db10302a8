// Checks clients that prove themselves with a signed assertion (RFC 7523) instead of a secret. An unknown client, a wrong
// key and a forged signature get the same answer after the same work; what else is wrong is told only to the holder of the
// key. Failures count as those of secrets do. An assertion gets one token, in whichever process it arrives.

import { generateKeyPairSync, hash, randomBytes } from 'node:crypto'
import { errors, importJWK, type JWK, type JWTPayload, jwtVerify } from 'jose'
import { ServiceError } from '../../core/plain/errors.ts'
import { NIL_UUID } from '../../core/plain/uuid.ts'
import {
  ASSERTION_LEEWAY_SECONDS,
  type Assertion,
  findAssertionFault,
  readAssertion,
} from '../../core/proofs/client-assertion.ts'
import type { AssertionAlgorithm } from '../../core/proofs/client-jwk.ts'
import { readKeysOfClient, useAssertion } from '../../store/secrets/client-keys.ts'
import type { Deps } from '../shared/deps.ts'
import type { LoginAttempts } from './login-attempts.ts'
import { isOwnClientKey } from './trusted-keys.ts'

type AssertionDeps = Pick<Deps, 'pool' | 'sealer' | 'clock'>

export interface AssertedLogin {
  assertion: string
  /** Whom it may be meant for: the token endpoint, or the issuer. */
  audiences: readonly string[]
  address: string
}

interface Refusal {
  detail: string
}

const WRONG: Refusal = { detail: 'The client assertion is wrong.' }

export class AssertionLogins {
  readonly #deps: AssertionDeps
  readonly #attempts: LoginAttempts

  constructor(deps: AssertionDeps, attempts: LoginAttempts) {
    this.#deps = deps
    this.#attempts = attempts
  }

  /** Throws when the assertion is wrong. */
  async check(login: AssertedLogin): Promise<{ clientId: string }> {
    const claimed = readAssertion(login.assertion)
    const clientId = claimed?.clientId.toLowerCase() ?? NIL_UUID
    let refusal = WRONG
    const match = await this.#attempts.judge(
      { name: clientId, address: login.address },
      async () => {
        if (claimed === null) return null
        const found = await this.#verify({ ...claimed, clientId }, login)
        if (!('detail' in found)) return found
        refusal = found
        return null
      },
    )
    if (match === null) throw new ServiceError('invalid-credentials', refusal.detail)
    return match
  }

  async #verify(
    { clientId, alg, kid }: Assertion,
    { assertion, audiences }: AssertedLogin,
  ): Promise<{ clientId: string } | Refusal> {
    const { pool, sealer, clock } = this.#deps
    const { clientKey, status, keys } = await readKeysOfClient(pool, clientId)
    const own = keys.filter(
      (key) =>
        key.publicJwk.alg === alg &&
        (kid === null || key.kid === kid) &&
        isOwnClientKey(sealer, clientId, key),
    )
    const nowMs = clock.nowMs()
    const of = { assertion, audiences, alg, clientId, nowMs }
    if (own.length === 0) {
      // So that a client without such a key takes as long. Whatever comes of it, no one has proven anything.
      await verifyUnder(STAND_INS[alg], of)
      return WRONG
    }
    for (const { publicJwk } of own) {
      const payload = await verifyUnder(publicJwk as JWK, of)
      if (payload === null) continue
      if (status !== 'ACTIVE') return WRONG
      if ('detail' in payload) return payload as Refusal
      return this.#use(clientKey, payload, of)
    }
    return WRONG
  }

  async #use(
    clientKey: number,
    payload: JWTPayload,
    of: Verification,
  ): Promise<{ clientId: string } | Refusal> {
    const fault = findAssertionFault(payload, of)
    if (fault !== null) return { detail: fault }
    const digest = hash('sha256', payload.jti as string, 'buffer')
    const endMs = ((payload.exp as number) + KEPT_AFTER_SECONDS) * 1_000
    const isNew = await useAssertion(this.#deps.pool, clientKey, digest, new Date(endMs))
    return isNew
      ? { clientId: of.clientId }
      : { detail: 'The assertion was used before: make one for each token.' }
  }
}

/** Longer than it is taken by far: the clock of whoever deletes it may be ahead. */
const KEPT_AFTER_SECONDS = 3_600

interface Verification {
  assertion: string
  audiences: readonly string[]
  alg: AssertionAlgorithm
  clientId: string
  nowMs: number
}

/** Null where the signature does not hold under this key. */
async function verifyUnder(jwk: JWK, of: Verification): Promise<JWTPayload | Refusal | null> {
  try {
    const key = await importJWK(jwk, of.alg)
    const { payload } = await jwtVerify(of.assertion, key, {
      algorithms: of.alg === 'EdDSA' ? ['EdDSA', 'Ed25519'] : [of.alg],
      requiredClaims: ['exp', 'jti'],
      currentDate: new Date(of.nowMs),
      clockTolerance: ASSERTION_LEEWAY_SECONDS,
    })
    return payload
  } catch (error) {
    // The claims are looked at after the signature.
    if (error instanceof errors.JWTExpired) {
      return { detail: expiredText(error.payload.exp) }
    }
    if (error instanceof errors.JWTClaimValidationFailed) {
      return { detail: `${error.claim} is missing or is not what it must be.` }
    }
    return null
  }
}

/** Any number may stand there, also one that is no time. */
function expiredText(seconds: unknown): string {
  const at = new Date(Number(seconds) * 1_000)
  if (Number.isNaN(at.getTime())) return 'The assertion has expired.'
  return `The assertion expired at ${at.toISOString().replace('.000Z', 'Z')}.`
}

/** Of keys whose private part is gone, of this process alone. */
const STAND_INS: Readonly<Record<AssertionAlgorithm, JWK>> = {
  EdDSA: generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }) as JWK,
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({
    format: 'jwk',
  }) as JWK,
  PS256: { kty: 'RSA', n: makeModulus(), e: 'AQAB' },
}

/** As long as that of the smallest key that clients may have. */
function makeModulus(): string {
  const bytes = randomBytes(256)
  bytes[0] = (bytes[0] as number) | 0x80
  bytes[255] = (bytes[255] as number) | 1
  return bytes.toString('base64url')
}
