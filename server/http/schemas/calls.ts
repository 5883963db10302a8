// How the routes of the two interfaces declare themselves: a call says what it takes, what it answers and which problems
// are its own. What every call of its interface has besides follows from that.

import type { TSchema } from 'typebox'
import type { ErrorCode } from '../../core/plain/errors.ts'
import type { Role } from '../../core/plain/operator.ts'
import {
  AccountHeader,
  BODY_PROBLEMS,
  CLIENT_PROBLEMS,
  OPERATOR_PROBLEMS,
  OptionalAccountHeader,
  problemResponses,
} from './schemas.ts'

interface Call {
  operationId: string
  summary: string
  description: string
  tags?: readonly string[]
  security?: readonly Readonly<Record<string, readonly string[]>>[]
  headers?: TSchema
  params?: TSchema
  querystring?: TSchema
  body?: TSchema
  /** What it answers, by status. */
  answers: Readonly<Record<number, unknown>>
  /** Those that follow from nothing else here. */
  problems?: readonly ErrorCode[]
}

/** Of a call of the operator about one client, which may be on its way to another cell, or there. */
export const ABOUT_CLIENT = ['client-moved', 'overloaded'] as const satisfies readonly ErrorCode[]

/** Of a call that refuses a dry run, in the query or in the body. */
export const NO_DRY_RUN = [
  'invalid-query',
  'invalid-fields',
] as const satisfies readonly ErrorCode[]

/** A call of the client interface. AccountId may be there, or must be; a wrong one is refused either way. */
export function forClients<C extends Call>(call: C, account: 'optional' | 'required' = 'optional') {
  const headers = account === 'required' ? AccountHeader : OptionalAccountHeader
  const general = [...CLIENT_PROBLEMS, 'invalid-account'] as const
  return { config: { account }, schema: { ...toSchema(call, general), headers } }
}

export function forOperators<C extends Call>(role: Role, call: C) {
  return { config: { role }, schema: toSchema(call, OPERATOR_PROBLEMS) }
}

/** A call that needs no credential, or is one. */
export function forAnyone<C extends Call>(call: C) {
  return { schema: { ...toSchema(call, []), security: [] } }
}

function toSchema<C extends Call>(call: C, general: readonly ErrorCode[]) {
  const { answers, problems = [], ...schema } = call
  const named = problemResponses(
    ...general,
    ...(call.body ? BODY_PROBLEMS : []),
    ...(call.querystring ? (['invalid-query'] as const) : []),
    ...(call.params ? (['not-found'] as const) : []),
    ...problems,
  )
  return { ...schema, response: { ...(answers as C['answers']), ...named } }
}

/** What an answer means here; its schema describes its shape. */
export function answer<S extends TSchema>(meaning: string, schema: S): S {
  return { ...schema, 'x-response-description': meaning }
}
