// Who is asking: a client with a token, or the operator with the key. Neither's word counts on the
// other's side. These hooks run before a body is read, so nobody unknown gets one parsed.

import { createHmac, createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { ServiceError } from '../core/errors.ts'
import type { Deps } from '../operations/deps.ts'
import type { RateBuckets } from '../operations/rate-buckets.ts'
import type { Caller, TokenVerifier } from '../operations/verify-token.ts'
import { ownsAccount } from '../operations/view-accounts.ts'

type Hook = (request: FastifyRequest) => Promise<void>

export function authenticateClient(verifier: TokenVerifier, requests: RateBuckets): Hook {
  return async (request) => {
    const caller = await verifier.verify(readBearer(request))
    if (caller === null) throw invalidToken()
    request.caller = caller
    const waitSeconds = requests.waitSeconds(caller.clientId)
    if (waitSeconds > 0) {
      throw new ServiceError('too-many-requests', 'Too many requests. Wait, then go on.', {
        retryAfterSeconds: waitSeconds,
      })
    }
    requests.take(caller.clientId)
  }
}

export function authenticateOperator(operatorKey: string | null): Hook {
  // Texts of any length are compared in the same time by comparing what they hash to.
  // A key object: a raw key is imported anew each time, which takes ten times as long.
  const once = createSecretKey(randomBytes(32))
  const digest = (text: string) => createHmac('sha256', once).update(text).digest()
  const expected = operatorKey === null ? null : digest(operatorKey)
  return async (request) => {
    const given = digest(readBearer(request))
    if (expected === null || !timingSafeEqual(given, expected)) throw invalidToken()
  }
}

/** `AccountId` where the route asks for it; one and the same refusal, so that nobody learns more. */
export function resolveAccount(deps: Deps): Hook {
  return async (request) => {
    const need = request.routeOptions.config.account
    if (need === undefined || request.caller === null) return
    const given = headerValues(request, 'accountid')
    if (given.length === 0 && need === 'optional') return
    const [accountId] = given
    if (given.length !== 1 || !accountId) throw invalidAccount()
    if (!(await ownsAccount(deps, request.caller, accountId))) throw invalidAccount()
    request.accountId = accountId.toLowerCase()
  }
}

/** Who asks, behind authenticateClient. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new Error('this route is not behind authenticateClient')
  return request.caller
}

// RFC 6750 §2.1: the scheme in any case, then one token.
const BEARER = /^bearer +([\w.~+/-]+=*)$/i

function readBearer(request: FastifyRequest): string {
  const given = headerValues(request, 'authorization')
  if (given.length === 0 || given[0] === '') {
    throw new ServiceError('missing-token', 'Send the header Authorization: Bearer <token>.')
  }
  // Node silently keeps the first of two: whoever sends two does not get to choose.
  const token = given.length === 1 ? BEARER.exec(given[0] as string)?.[1] : undefined
  if (token === undefined) throw invalidToken()
  return token
}

/** Every value that was sent under this name, which is given in lower case. */
export function headerValues(request: FastifyRequest, name: string): string[] {
  const { rawHeaders } = request.raw
  const values: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === name) values.push(rawHeaders[at + 1] as string)
  }
  return values
}

function invalidToken(): ServiceError {
  return new ServiceError('invalid-token', 'The token is malformed, forged, expired or refused.')
}

function invalidAccount(): ServiceError {
  return new ServiceError('invalid-account', 'Send the id of one of your accounts in AccountId.')
}
