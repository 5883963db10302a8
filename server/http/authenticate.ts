// Who is asking: a client with a token, or the operator with a key. Neither's word counts on the
// other's side. These hooks run before a body is read, so nobody unknown gets one parsed.

import type { FastifyRequest } from 'fastify'
import { ServiceError } from '../core/errors.ts'
import { isAllowed } from '../core/operator.ts'
import { AccountDirectory } from '../operations/account-directory.ts'
import type { Deps } from '../operations/deps.ts'
import type { OperatorKeys } from '../operations/operator-keys.ts'
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

/** Whose key it is, then whether its role suffices for the route. */
export function authenticateOperator(keys: OperatorKeys): Hook {
  return async (request) => {
    const operator = await keys.verify(readBearer(request))
    if (operator === null) throw invalidToken()
    const { role } = request.routeOptions.config
    // Routes without a role do not even get built (operator-roles.ts).
    if (role === undefined || !isAllowed(operator.role, role)) {
      throw new ServiceError(
        'role-not-allowed',
        `This key has the role ${operator.role}, which does not allow this call.`,
      )
    }
    request.operator = operator
  }
}

/** `AccountId` where the route asks for it; one and the same refusal, so that nobody learns more. */
export function resolveAccount(deps: Deps): Hook {
  const accounts = new AccountDirectory(deps.pool)
  return async (request) => {
    const need = request.routeOptions.config.account
    if (need === undefined || request.caller === null) return
    const given = headerValues(request, 'accountid')
    if (given.length === 0 && need === 'optional') return
    const [accountId] = given
    if (given.length !== 1 || !accountId) throw invalidAccount()
    if (!(await ownsAccount(accounts, request.caller, accountId))) throw invalidAccount()
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
