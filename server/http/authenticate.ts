// Who is asking: a client with a token, or the operator with a key, or either through its session at the
// console. Neither's word counts on the other's side. These hooks run before a body is read, so no body of
// an unknown caller is parsed.

import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { ServiceError } from '../core/errors.ts'
import { isAllowed, type Operator } from '../core/operator.ts'
import type { ConsoleSession } from '../operations/console-session.ts'
import type { AccountDirectory } from '../operations/parts/account-directory.ts'
import type { OperatorKeys } from '../operations/parts/operator-keys.ts'
import type { RateBuckets } from '../operations/parts/rate-buckets.ts'
import type { Caller, TokenVerifier } from '../operations/parts/verify-token.ts'
import { ownsAccount } from '../operations/view-accounts.ts'
import { readConsoleSession } from './console-cookie.ts'
import { headerValues } from './header-values.ts'

const ASKED_AGAIN_MS = 2_000

export function authenticateClient(
  verifier: TokenVerifier,
  requests: RateBuckets,
): onRequestAsyncHookHandler {
  return async (request) => {
    const caller = await findCaller(verifier, request)
    if (caller === null) throw invalidToken()
    request.caller = caller
    const waitSeconds = requests.takeOrWait(caller.clientId)
    if (waitSeconds > 0) {
      throw new ServiceError('too-many-requests', 'Too many requests. Wait, then go on.', {
        retryAfterSeconds: waitSeconds,
      })
    }
  }
}

/** Whose key it is, then whether its role suffices for the route. */
export function authenticateOperator(keys: OperatorKeys): onRequestAsyncHookHandler {
  return async (request, reply) => {
    const operator = await findOperator(keys, request)
    if (operator === null) throw invalidToken()
    const { config } = request.routeOptions
    // Routes without a role do not even get built (operator-roles.ts).
    if (config.role === undefined || !isAllowed(operator.role, config.role)) {
      throw new ServiceError(
        'role-not-allowed',
        `This key has the role ${operator.role}, which does not allow this call.`,
      )
    }
    request.operator = operator
    if (config.isEndless) cutOffWhenRefused(reply, () => findOperator(keys, request))
  }
}

/** An answer without end would outlive its credential: that is asked for again, all the while. */
function cutOffWhenRefused(reply: FastifyReply, ask: () => Promise<Operator | null>): void {
  const askAgain = async () => {
    // A database that cannot be asked is no refusal.
    const answer = await ask().catch((error) =>
      error instanceof ServiceError && error.code === 'invalid-token' ? null : undefined,
    )
    if (answer === null) reply.raw.destroy()
  }
  const timer = setInterval(() => void askAgain(), ASKED_AGAIN_MS)
  timer.unref()
  reply.raw.once('close', () => clearInterval(timer))
}

async function findCaller(
  verifier: TokenVerifier,
  request: FastifyRequest,
): Promise<Caller | null> {
  const given = headerValues(request, 'authorization')
  const session = given.length > 0 ? undefined : await findSession(request)
  if (session === undefined) return verifier.verify(readBearer(given))
  return session.kind === 'client' ? session.caller : null
}

async function findOperator(keys: OperatorKeys, request: FastifyRequest): Promise<Operator | null> {
  const given = headerValues(request, 'authorization')
  const session = given.length > 0 ? undefined : await findSession(request)
  if (session === undefined) return keys.verify(readBearer(given))
  return session.kind === 'operator' ? session.operator : null
}

/** Only for a request that brings no credential of its own: that one would be what it is judged by. */
async function findSession(request: FastifyRequest): Promise<ConsoleSession | undefined> {
  const session = await readConsoleSession(request)
  if (session === null) {
    throw new ServiceError('invalid-token', 'The session has ended. Sign in again at /console.')
  }
  return session
}

/** `AccountId` where the route asks for it; one and the same refusal, so that nothing more is learnt. */
export function resolveAccount(accounts: AccountDirectory): onRequestAsyncHookHandler {
  return async (request) => {
    const accountId = readAccountId(request)
    if (accountId === null) return
    if (!(await ownsAccount(accounts, callerOf(request), accountId))) throw invalidAccount()
    request.accountId = accountId.toLowerCase()
  }
}

/** What was sent, where the route asks for it; null where it need not be there, and is not. */
function readAccountId(request: FastifyRequest): string | null {
  const need = request.routeOptions.config.account
  if (need === undefined || request.caller === null) return null
  const given = headerValues(request, 'accountid')
  if (given.length === 0 && need === 'optional') return null
  const [accountId] = given
  if (given.length !== 1 || !accountId) throw invalidAccount()
  return accountId
}

/** Who asks, after authenticateClient. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new Error('this route has no authenticateClient before it')
  return request.caller
}

// RFC 6750 §2.1: the scheme in any case, then one token.
const BEARER = /^bearer +([\w.~+/-]+=*)$/i

function readBearer([header, ...others]: readonly string[]): string {
  if (header === undefined || header === '') {
    throw new ServiceError('missing-token', 'Send the header Authorization: Bearer <token>.')
  }
  // Node silently keeps the first of two headers: a caller that sends two does not get to choose.
  const token = others.length > 0 ? undefined : BEARER.exec(header)?.[1]
  if (token === undefined) throw invalidToken()
  return token
}

function invalidToken(): ServiceError {
  return new ServiceError('invalid-token', 'The token is malformed, forged, expired or refused.')
}

function invalidAccount(): ServiceError {
  return new ServiceError('invalid-account', 'Send the id of one of your accounts in AccountId.')
}
