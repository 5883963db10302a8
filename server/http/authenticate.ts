// Who is asking: a client with a token, or the operator with a key, or either through its session at the
// console. Neither's word counts on the other's side. These hooks run before a body is read, so nobody
// unknown gets one parsed. Nearly every client is one that was asked about a moment ago: its requests pass
// without a promise, which would cost more than the look into memory itself.

import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { ServiceError } from '../core/errors.ts'
import { isAllowed, type Operator } from '../core/operator.ts'
import type { AccountDirectory } from '../operations/parts/account-directory.ts'
import type { OperatorKeys } from '../operations/parts/operator-keys.ts'
import type { RateBuckets } from '../operations/parts/rate-buckets.ts'
import type { Caller, TokenVerifier } from '../operations/parts/verify-token.ts'
import { ownsAccount } from '../operations/view-accounts.ts'
import { readConsoleSession } from './console-cookie.ts'
import { headerValues, onlyHeaderValue } from './header-values.ts'

const ASKED_AGAIN_MS = 2_000

export function authenticateClient(
  verifier: TokenVerifier,
  requests: RateBuckets,
): onRequestHookHandler {
  const admit = (request: FastifyRequest, caller: Caller | null) => {
    if (caller === null) throw invalidToken()
    request.caller = caller
    const waitSeconds = requests.takeOrWait(caller.clientId)
    if (waitSeconds > 0) {
      throw new ServiceError('too-many-requests', 'Too many requests. Wait, then go on.', {
        retryAfterSeconds: waitSeconds,
      })
    }
  }
  return (request, _reply, done) => {
    const caller = recallCaller(verifier, request)
    if (caller === undefined) {
      return findCaller(verifier, request).then((found) => admit(request, found))
    }
    admit(request, caller)
    done()
  }
}

/** Whose key it is, then whether its role suffices for the route. */
export function authenticateOperator(keys: OperatorKeys): onRequestHookHandler {
  // Payments come in by the thousands, under a key that is known: no promise is made for those.
  return (request, reply, done) => {
    const token = onlyBearer(request)
    const known = token === undefined ? undefined : keys.recognise(token)
    if (known === undefined) {
      return findOperator(keys, request).then((operator) =>
        admitOperator(keys, request, reply, operator),
      )
    }
    admitOperator(keys, request, reply, known?.operator ?? null)
    done()
  }
}

function admitOperator(
  keys: OperatorKeys,
  request: FastifyRequest,
  reply: FastifyReply,
  operator: Operator | null,
): void {
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

/** An answer without end would outlive its credential: that is asked for again, all the while. */
function cutOffWhenRefused(reply: FastifyReply, ask: () => Promise<Operator | null>): void {
  const askAgain = async () => {
    // A database that cannot be asked refuses nobody.
    const answer = await ask().catch((error) =>
      error instanceof ServiceError && error.code === 'invalid-token' ? null : undefined,
    )
    if (answer === null) reply.raw.destroy()
  }
  const timer = setInterval(() => void askAgain(), ASKED_AGAIN_MS)
  timer.unref()
  reply.raw.once('close', () => clearInterval(timer))
}

/** Undefined for whoever has to be asked about, or brings something else than one token. */
function recallCaller(verifier: TokenVerifier, request: FastifyRequest): Caller | null | undefined {
  const token = onlyBearer(request)
  return token === undefined ? undefined : verifier.recall(token)
}

async function findCaller(
  verifier: TokenVerifier,
  request: FastifyRequest,
): Promise<Caller | null> {
  const session = await findSession(request)
  if (session === undefined) return verifier.verify(readBearer(request))
  return session.kind === 'client' ? session.caller : null
}

async function findOperator(keys: OperatorKeys, request: FastifyRequest): Promise<Operator | null> {
  const session = await findSession(request)
  if (session === undefined) return keys.verify(readBearer(request))
  return session.kind === 'operator' ? session.operator : null
}

/** A request that brings a credential of its own is judged by that one. */
async function findSession(request: FastifyRequest) {
  if (headerValues(request, 'authorization').length > 0) return undefined
  const session = await readConsoleSession(request)
  if (session === null) {
    throw new ServiceError('invalid-token', 'The session has ended. Sign in again at /console.')
  }
  return session
}

/** `AccountId` where the route asks for it; one and the same refusal, so that nobody learns more. */
export function resolveAccount(accounts: AccountDirectory): onRequestHookHandler {
  const admit = (request: FastifyRequest, accountId: string, isOwn: boolean) => {
    if (!isOwn) throw invalidAccount()
    request.accountId = accountId.toLowerCase()
  }
  return (request, _reply, done) => {
    const accountId = readAccountId(request)
    if (accountId !== null) {
      const isOwn = ownsAccount(accounts, callerOf(request), accountId)
      if (isOwn instanceof Promise) return isOwn.then((answer) => admit(request, accountId, answer))
      admit(request, accountId, isOwn)
    }
    done()
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

/** Who asks, behind authenticateClient. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new Error('this route is not behind authenticateClient')
  return request.caller
}

// RFC 6750 §2.1: the scheme in any case, then one token.
const BEARER = /^bearer +([\w.~+/-]+=*)$/i

/** Node silently keeps the first of two headers: whoever sends two does not get to choose. */
function onlyBearer(request: FastifyRequest): string | undefined {
  const header = onlyHeaderValue(request, 'authorization')
  return header === undefined ? undefined : BEARER.exec(header)?.[1]
}

function readBearer(request: FastifyRequest): string {
  const given = headerValues(request, 'authorization')
  if (given.length === 0 || given[0] === '') {
    throw new ServiceError('missing-token', 'Send the header Authorization: Bearer <token>.')
  }
  const token = onlyBearer(request)
  if (token === undefined) throw invalidToken()
  return token
}

function invalidToken(): ServiceError {
  return new ServiceError('invalid-token', 'The token is malformed, forged, expired or refused.')
}

function invalidAccount(): ServiceError {
  return new ServiceError('invalid-account', 'Send the id of one of your accounts in AccountId.')
}
