// How routes are written: TypeBox schemas give the handlers their types, and what a request carries besides
// is declared here, once.

import type {
  FastifyBaseLogger,
  FastifyContextConfig,
  FastifyInstance,
  FastifySchema,
  FastifyTypeProvider,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { Static, TSchema } from 'typebox'
import type { ErrorCode } from '../../core/plain/errors.ts'
import type { Operator, Role } from '../../core/plain/operator.ts'
import type { Caller } from '../../operations/access/verify-token.ts'
import type { LargeWork } from './large-work.ts'

export interface TypeBoxProvider extends FastifyTypeProvider {
  validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown
  serializer: this['schema'] extends TSchema ? Static<this['schema']> : unknown
}

export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxProvider
>

/** Adds routes. Those of the client interface find `request.caller`, those of the operator's find
 *  `request.operator`. */
export type Routes = (app: App) => void | Promise<void>

interface Route {
  /** The pattern; undefined when the address led to no route. */
  url?: string
  config?: FastifyContextConfig
  schema?: FastifySchema
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether `AccountId` must be there or may be; a wrong one is refused either way. */
    account?: 'required' | 'optional'
    /** The role that suffices on a route of the operator; an admin may call all of them. */
    role?: Role
    /** What the body must be sent as, where it is not JSON. */
    mediaType?: string
    /** Prepares a large body in steps, before the handler is called. */
    readAhead?: (body: unknown, work: LargeWork) => Promise<void>
    /** Failures also carry `error` as in RFC 6749. */
    isTokenRequest?: boolean
    /** The body may be a form instead (token-form.ts). */
    takesForm?: boolean
    /** The answer goes on until either side closes it. */
    isEndless?: boolean
    /** Probes would drown the log: theirs are written at level debug. */
    isProbe?: boolean
  }
  interface FastifyRequest {
    /** What was declared of the route; null where the address was so malformed that no hook has run. */
    route: Route | null
    /** The caller, on routes of the client interface. */
    caller: Caller | null
    /** The caller, on routes of the operator. */
    operator: Operator | null
    /** The account that `AccountId` named: a client's own, or that of a payment which the operator writes. */
    accountId: string | null
    /** The digits of `/amount/amount` as they were sent (core/plain/exact-json). */
    amountText: string | undefined
    /** What a client that asks for a token has signed, in place of a secret. */
    clientAssertion: string | null
    /** The problem that was answered, for the log. */
    problemCode: ErrorCode | null
    /** Ids that the log line of this request has besides its own. */
    logged: Readonly<Record<string, string>> | null
  }
}
