// How the routes of the two interfaces declare themselves: a call says what it takes, what it answers and which problems
// are its own. What every call of its interface has besides follows from that.

import type { TSchema } from 'typebox'
import type { ErrorCode } from '../../core/plain/errors.ts'
import type { Role } from '../../core/plain/operator.ts'
import { PROBLEMS } from '../basics/problems.ts'
import { Type } from '../basics/type.ts'
import { AccountHeader, OptionalAccountHeader } from './schemas.ts'

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
  /** One of the first four operations: it ignores members and parameters that resemble none of its own. */
  isTolerant?: true
}

/** The problems that every operation of the client interface may answer. */
const CLIENT_PROBLEMS = [
  'missing-token',
  'invalid-token',
  'too-many-requests',
  'client-moved',
] as const satisfies readonly ErrorCode[]

export const OPERATOR_PROBLEMS = [
  'missing-token',
  'invalid-token',
  'role-not-allowed',
] as const satisfies readonly ErrorCode[]

const BODY_PROBLEMS = [
  'malformed-json',
  'invalid-fields',
  'body-too-large',
  'unsupported-media-type',
] as const satisfies readonly ErrorCode[]

/** Of a call of the operator about one client, which may be on its way to another cell, or there. */
export const ABOUT_CLIENT = ['client-moved', 'overloaded'] as const satisfies readonly ErrorCode[]

/** A call of the client interface. AccountId may be there, or must be; a wrong one is refused either way. */
export function forClients<C extends Call>(call: C, account: 'optional' | 'required' = 'optional') {
  const headers = account === 'required' ? AccountHeader : OptionalAccountHeader
  const general = [...CLIENT_PROBLEMS, 'invalid-account'] as const
  return { config: { account }, schema: { ...toSchema(withParameters(call), general), headers } }
}

export function forOperators<C extends Call>(role: Role, call: C) {
  return { config: { role }, schema: toSchema(withParameters(call), OPERATOR_PROBLEMS) }
}

/** A call that needs no credential, or is one. Probes and caches may add parameters to its address. */
export function forAnyone<C extends Call>(call: C) {
  return { schema: { ...toSchema(call, []), security: [] } }
}

/** What the published interface leaves out: pages, and what they load. */
export const HIDDEN = { schema: { hide: true } }

/** A call that takes no parameters refuses all of them, unless it is tolerant. */
function withParameters<C extends Call>(call: C): C {
  return call.isTolerant ? call : { querystring: NO_PARAMETERS, ...call }
}

const NO_PARAMETERS = Type.Object({})

function toSchema<C extends Call>(call: C, general: readonly ErrorCode[]) {
  const { answers, problems = [], isTolerant, ...schema } = call
  const named = problemResponses(
    ...general,
    ...(call.body ? BODY_PROBLEMS : []),
    ...(call.querystring ? (['invalid-query'] as const) : []),
    ...(call.params ? (['not-found'] as const) : []),
    ...problems,
  )
  const response = { ...(answers as C['answers']), ...named }
  if (!isTolerant) return { ...schema, response }
  const { querystring, body } = call
  const marked = {
    ...(querystring && { querystring: { ...querystring, isTolerant } }),
    ...(body && { body: { ...body, isTolerant } }),
  }
  return { ...schema, ...(marked as object), response }
}

/** The problems that an operation can answer, by status, for the published interface. */
export function problemResponses(...codes: ErrorCode[]): Record<number, unknown> {
  const all: ErrorCode[] = [...codes, 'headers-too-large', 'internal', 'database-away']
  const responses: Record<number, unknown> = {}
  for (const status of new Set(all.map((code) => PROBLEMS[code].status))) {
    const named = all.filter((code) => PROBLEMS[code].status === status)
    responses[status] = {
      description: named.map((code) => `\`${code}\`: ${PROBLEMS[code].title}.`).join(' '),
      content: { 'application/problem+json': { schema: { $ref: 'Problem#' } } },
    }
  }
  return responses
}

/** What an answer means here; its schema describes its shape. */
export function answer<S extends TSchema>(meaning: string, schema: S): S {
  return { ...schema, 'x-response-description': meaning }
}
