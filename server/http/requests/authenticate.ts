// Authenticates a request: a client by its token, an operator by its key, or either by its session at the
// console. A client's credential is refused on the operator's side, and the other way round. These hooks
// run before a body is read, so that no body of an unknown caller is parsed.

import type {
  FastifyReply,
  FastifyRequest,
  onRequestAsyncHookHandler,
  onRequestHookHandler,
} from 'fastify'
import type { EndpointKind } from '../../core/delivery/endpoint.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import { isAllowed, type Operator } from '../../core/plain/operator.ts'
import { RecurringTask } from '../../core/plain/recurring-task.ts'
import type { AccountDirectory } from '../../operations/access/account-directory.ts'
import type { ConsoleSession } from '../../operations/access/console-session.ts'
import type { OperatorKeys } from '../../operations/access/live-operator-keys.ts'
import { type ClientMoves, checkRequest } from '../../operations/access/move-checks.ts'
import type { RateBuckets } from '../../operations/access/rate-buckets.ts'
import type { Caller, TokenVerifier } from '../../operations/access/verify-token.ts'
import { ownsAccount } from '../../operations/clients/view-accounts.ts'
import { setUnheldTimer } from '../../operations/shared/timers.ts'
import { headerValues, onlyHeaderValue } from '../basics/header-values.ts'
import { whenClosed } from '../sockets/when-closed.ts'
import { readConsoleSession } from './console-cookie.ts'
import {
  refusedHeader,
  refusedOfClients,
  refusedOfOperators,
  refusedSession,
} from './refused-token.ts'

const ASKED_AGAIN_MS = 2_000

export function authenticateClient(
  verifier: TokenVerifier,
  requests: RateBuckets,
  moves: ClientMoves,
): onRequestAsyncHookHandler {
  return async (request, reply) => {
    const caller = await findCaller(verifier, request)
    request.caller = caller
    const waitSeconds = requests.takeOrWait(caller.clientId)
    setRateLimitFields(reply, requests, caller.clientId)
    if (waitSeconds > 0) {
      throw new ServiceError('too-many-requests', 'Too many requests. Wait, then go on.', {
        retryAfterSeconds: waitSeconds,
      })
    }
    checkRequest((await moves.current()).get(caller.clientKey), request)
  }
}

/**
 * RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers): how many requests a client may send, how many of
 * them are left, and in how many seconds all of them are there again. To be called after the request was counted.
 */
function setRateLimitFields(reply: FastifyReply, buckets: RateBuckets, key: string): void {
  const { quota, periodSeconds, remaining, fullInSeconds } = buckets.look(key)
  reply.header('ratelimit-policy', `"client";q=${quota};w=${periodSeconds}`)
  reply.header('ratelimit', `"client";r=${remaining};t=${fullInSeconds}`)
}

/** Checks the key, then whether its role suffices for the route. */
export function authenticateOperator(keys: OperatorKeys): onRequestHookHandler {
  const admit = (operator: Operator, request: FastifyRequest, reply: FastifyReply): void => {
    const config = request.route?.config
    // A route without a role fails the build of the server (operator-roles.ts).
    if (config?.role === undefined || !isAllowed(operator.role, config.role)) {
      throw new ServiceError(
        'role-not-allowed',
        `This key has the role ${operator.role}, which does not allow this call.`,
      )
    }
    request.operator = operator
    if (config.isEndless) cutOffWhenRefused(reply, () => findOperator(keys, request))
  }
  return (request, reply, done) => {
    // Without a promise where the key is in memory: payments are written thousands of times a second.
    const operator = findKnownOperator(keys, request)
    if (operator === null) {
      return findOperator(keys, request).then((found) => admit(found, request, reply))
    }
    admit(operator, request, reply)
    done()
  }
}

/** An endless answer must not outlive its credential: it is checked again at intervals. */
function cutOffWhenRefused(reply: FastifyReply, ask: () => Promise<Operator>): void {
  const askAgain = async () => {
    try {
      await ask()
    } catch (error) {
      // A database that is away is no refusal.
      if (error instanceof ServiceError && error.code === 'invalid-token') reply.raw.destroy()
    }
  }
  const checks = new RecurringTask(setUnheldTimer, () => ASKED_AGAIN_MS, askAgain)
  checks.start()
  whenClosed(reply.raw, () => void checks.stop())
}

async function findCaller(verifier: TokenVerifier, request: FastifyRequest): Promise<Caller> {
  const given = headerValues(request, 'authorization')
  const session = given.length > 0 ? undefined : await findSession(request)
  if (session !== undefined) {
    if (session.kind === 'client') return session.caller
    throw refusedSession(session.kind)
  }
  const token = readBearer(given)
  const { caller, expiredAtMs } = await verifier.verify(token)
  if (caller === null) throw refusedOfClients(token, expiredAtMs)
  return caller
}

async function findOperator(keys: OperatorKeys, request: FastifyRequest): Promise<Operator> {
  const given = headerValues(request, 'authorization')
  const session = given.length > 0 ? undefined : await findSession(request)
  if (session !== undefined) {
    if (session.kind === 'operator') return session.operator
    throw refusedSession(session.kind)
  }
  const key = readBearer(given)
  const { consoleSessions } = request.server
  const operator = (await consoleSessions.verifyBearer(key)) ?? (await keys.verify(key))
  if (operator === null) throw refusedOfOperators(key)
  return operator
}

/** The operator of a key that is in memory; null where it has to be asked for, or is refused. */
function findKnownOperator(keys: OperatorKeys, request: FastifyRequest): Operator | null {
  const given = onlyHeaderValue(request, 'authorization')
  const token = given === undefined ? undefined : BEARER.exec(given)?.[1]
  return token === undefined ? null : keys.findKnown(token)
}

/** Only for a request without an Authorization header, which would take precedence. */
async function findSession(request: FastifyRequest): Promise<ConsoleSession | undefined> {
  const session = await readConsoleSession(request)
  if (session === null) {
    throw new ServiceError('invalid-token', 'The session has ended. Sign in again at /console.')
  }
  return session
}

/** Checks `AccountId` where the route needs it; all refusals are the same, so that none shows a reason. */
export function resolveAccount(accounts: AccountDirectory): onRequestAsyncHookHandler {
  return async (request) => {
    const accountId = readAccountId(request)
    if (accountId === null) return
    if (!(await ownsAccount(accounts, callerOf(request), accountId))) throw invalidAccount()
    request.accountId = accountId.toLowerCase()
  }
}

/** The AccountId as sent; null where the route does not need it and it is absent. */
function readAccountId(request: FastifyRequest): string | null {
  const need = request.route?.config?.account
  if (need === undefined || request.caller === null) return null
  const given = headerValues(request, 'accountid')
  if (given.length === 0 && need === 'optional') return null
  const [accountId] = given
  if (given.length !== 1 || !accountId) throw invalidAccount()
  return accountId
}

/** The caller; needs authenticateClient before it. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new Error('this route has no authenticateClient before it')
  return request.caller
}

/** Whose things the request is about: the caller's, and of those one account's where `AccountId` names it. */
export function ownerOf(request: FastifyRequest) {
  return { clientKey: callerOf(request).clientKey, accountId: request.accountId }
}

/** Where a request at a door looks for its endpoints. */
export function scopeOf(request: FastifyRequest, { kind }: { kind: EndpointKind }) {
  return { ...ownerOf(request), kind }
}

// RFC 6750 §2.1: the scheme in any case, then one token.
const BEARER = /^bearer +([\w.~+/-]+=*)$/i

function readBearer([header, ...others]: readonly string[]): string {
  if (header === undefined || header === '') {
    throw new ServiceError('missing-token', 'Send the header Authorization: Bearer <token>.')
  }
  // Node silently keeps the first of two headers: a request with two is refused.
  const token = others.length > 0 ? undefined : BEARER.exec(header)?.[1]
  if (token === undefined) throw refusedHeader()
  return token
}

function invalidAccount(): ServiceError {
  return new ServiceError('invalid-account', 'Send the id of one of your accounts in AccountId.')
}
