// Ajv checks requests against the same TypeBox schemas that OpenAPI shows, and reports all faults at once.
// Nothing is coerced or removed in bodies; query parameters, which are always text, become numbers only where
// they are plainly written as such. No fault repeats what was sent.

import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import type { FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import { EVERYONE } from '../../core/certificates/certificate-clients.ts'
import { ALL_EVENTS } from '../../core/delivery/endpoint-settings.ts'
import { checkCallbackUrl } from '../../core/network/callback-url.ts'
import type { TargetPolicy } from '../../core/network/network-rules.ts'
import { type FieldError, ServiceError } from '../../core/plain/errors.ts'
import { isInstant } from '../../core/plain/instant.ts'
import { countInvalid } from '../../core/plain/invalid-count.ts'
import { hasControlCharacter, isStorableText } from '../../core/plain/text.ts'
import { isUuid } from '../../core/plain/uuid.ts'
import { checkHeaderKey, checkHeaderValue } from '../../core/signatures/extra-header.ts'
import { checkHmacHeaderName } from '../../core/signatures/hmac-header-name.ts'
import { checkSharedKey } from '../../core/signatures/shared-key.ts'
import { checkOauthScope, checkOauthText } from '../../core/tokens/endpoint-oauth2.ts'
import { OWN_KEYWORDS, type UnknownCheck, unknownCheckOf } from './unknown-members.ts'

export interface ValidationPolicy {
  targets: TargetPolicy
  sharedKeyLengthMin: number
}

interface Fault {
  code: string
  detail: string
}

type Check = (text: string) => Fault | null

export function createValidatorCompiler(policy: ValidationPolicy): FastifySchemaCompiler<TSchema> {
  const formats = createFormats(policy)
  // `verbose` hands the refused value to the format's own check, which knows what is wrong with it.
  // Our schemas are held to the language of schemas by a test: compiling that language took 30 ms of every server's
  // first request.
  const ajv = new Ajv2020({
    allErrors: true,
    verbose: true,
    allowUnionTypes: true,
    validateSchema: false,
  })
  // Only for readers of the interface (published.ts), and for the check of names.
  for (const keyword of ['published', ...OWN_KEYWORDS]) ajv.addKeyword(keyword)
  for (const [name, check] of Object.entries(formats)) {
    ajv.addFormat(name, { type: 'string', validate: (text: string) => check(text) === null })
  }

  return ({ schema, httpPart }) => {
    // Headers are only published here; the hooks of authenticate.ts check them.
    if (httpPart === 'headers') return () => true
    // Compiled at its first request, because most routes are never used by a given process or test.
    let isValid: ValidateFunction | undefined
    let findUnknown: UnknownCheck | undefined
    const takesNone =
      httpPart === 'querystring' && hasNoMembers((schema as { properties?: object }).properties)
    return (sent: unknown) => {
      if (takesNone && hasNoMembers(sent)) return { value: sent }
      isValid ??= ajv.compile(schema)
      findUnknown ??= unknownCheckOf(schema)
      const value = httpPart === 'querystring' ? readQuery(sent, schema) : sent
      const unknown = findUnknown(value)
      if (isValid(value) && unknown.length === 0) return { value }
      const errors = [...toFieldErrors(isValid.errors ?? [], formats), ...unknown]
      return { error: httpPart === 'body' ? invalidFields(errors) : invalidQuery(errors) }
    }
  }
}

export function invalidFields(errors: readonly FieldError[]): ServiceError {
  return new ServiceError('invalid-fields', summary(errors, 'field', 'body'), { errors })
}

export function invalidQuery(errors: readonly FieldError[]): ServiceError {
  return new ServiceError('invalid-query', summary(errors, 'parameter', 'query'), { errors })
}

function summary(errors: readonly FieldError[], one: string, whole: string): string {
  const isNoObject = errors.some(({ pointer, code }) => pointer === '' && code === 'wrong-type')
  if (isNoObject) return `The ${whole} must be a JSON object.`
  const [first] = errors
  if (first && errors.every(({ code }) => code === 'not-taken')) return first.detail
  return countInvalid(errors.length, one, ` of the ${whole}`)
}

/** Formats are this service's own checks: their codes and messages reach the caller. */
function createFormats(policy: ValidationPolicy): Record<string, Check> {
  return {
    'callback-url': (text) => {
      const check = checkCallbackUrl(text, policy.targets)
      return check.ok ? null : check
    },
    'shared-key': (text) => checkSharedKey(text, policy.sharedKeyLengthMin),
    'header-key': checkHeaderKey,
    'header-value': checkHeaderValue,
    'hmac-header-name': checkHmacHeaderName,
    'oauth-text': checkOauthText,
    'oauth-scope': checkOauthScope,
    'all-events': (text) =>
      text === ALL_EVENTS
        ? null
        : { code: 'wrong-type', detail: `Must be a list of kinds of event, or ${ALL_EVENTS}.` },
    everyone: (text) =>
      text === EVERYONE
        ? null
        : { code: 'wrong-type', detail: `Must be a list of ids of clients, or ${EVERYONE}.` },
    description: (text) =>
      isStorableText(text) && !hasControlCharacter(text)
        ? null
        : { code: 'invalid-text', detail: 'Must be well-formed, without control characters.' },
    text: (text) => {
      if (!isStorableText(text)) {
        return {
          code: 'invalid-text',
          detail: 'Must be well-formed Unicode without the character U+0000.',
        }
      }
      return text.trim() === '' ? { code: 'blank', detail: 'Must be more than white space.' } : null
    },
    uuid: (text) =>
      isUuid(text) ? null : { code: 'not-a-uuid', detail: 'Must be a uuid, hyphenated.' },
    'date-time': (text) =>
      isInstant(text)
        ? null
        : {
            code: 'not-a-date-time',
            detail: 'Must be a date and time such as 2026-11-17T09:30:00Z (RFC 3339).',
          },
  }
}

/** 15 digits are exact as a number. Every whole number of a query has this limit, or a smaller one. */
export const QUERY_INTEGER_MAX = 999_999_999_999_999

/** Digits become a number and true or false a boolean, where the schema asks for one. */
function readQuery(sent: unknown, schema: TSchema): unknown {
  const { properties = {} } = schema as { properties?: Record<string, { type?: string }> }
  const query: Record<string, unknown> = { ...(sent as Record<string, unknown>) }
  for (const [name, { type }] of Object.entries(properties)) {
    const text = query[name]
    if (typeof text !== 'string') continue
    // 1e9, 0x10, +1 and the empty text stay what they are: text. More digits become more than the greatest.
    if (type === 'integer' && /^-?\d+$/.test(text)) query[name] = Number(text)
    if (type === 'boolean' && /^(true|false)$/.test(text)) query[name] = text === 'true'
  }
  return query
}

function hasNoMembers(value: unknown): boolean {
  for (const _name in value as object) return false
  return true
}

/** One error per pointer: the first one found says enough. */
function toFieldErrors(
  found: readonly ErrorObject[],
  formats: Readonly<Record<string, Check>>,
): FieldError[] {
  const errors = new Map<string, FieldError>()
  for (const error of found) {
    const pointer = pointerOf(error)
    if (!errors.has(pointer)) errors.set(pointer, { pointer, ...toFault(error, formats) })
  }
  return [...errors.values()]
}

function pointerOf({ instancePath, keyword, params }: ErrorObject): string {
  if (keyword !== 'required' && keyword !== 'dependentRequired') return instancePath
  // RFC 6901 §3.
  const name = String(params.missingProperty).replaceAll('~', '~0').replaceAll('/', '~1')
  return `${instancePath}/${name}`
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'a whole number, written in digits',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
}

function typeNames(type: string | readonly string[]): string {
  return [type]
    .flat()
    .map((name) => TYPE_NAMES[name] ?? name)
    .join(' or ')
}

function toFault(error: ErrorObject, formats: Readonly<Record<string, Check>>): Fault {
  const { keyword, params, data } = error
  switch (keyword) {
    case 'required':
      return { code: 'missing', detail: 'This field is required.' }
    case 'dependentRequired':
      return { code: 'missing', detail: `This field is required together with ${params.property}.` }
    case 'type':
      return { code: 'wrong-type', detail: `Must be ${typeNames(params.type)}.` }
    case 'minItems':
      return { code: 'empty', detail: 'Must not be empty.' }
    case 'maxItems':
      return { code: 'too-many', detail: `Must name at most ${params.limit}.` }
    case 'uniqueItems':
      return { code: 'repeated', detail: 'Must name each only once.' }
    case 'minLength':
      return data === ''
        ? { code: 'empty', detail: 'Must not be empty.' }
        : { code: 'too-short', detail: `Must have at least ${params.limit} characters.` }
    case 'maxLength':
      return { code: 'too-long', detail: `Must have at most ${params.limit} characters.` }
    case 'minimum':
      return { code: 'too-small', detail: `Must be ${params.limit} or more.` }
    case 'maximum':
      return { code: 'too-large', detail: `Must be ${params.limit} or less.` }
    case 'enum':
      return { code: 'not-in-list', detail: `Must be one of ${params.allowedValues.join(', ')}.` }
    case 'format': {
      const fault = typeof data === 'string' ? formats[params.format]?.(data) : null
      return fault
        ? { code: fault.code, detail: fault.detail }
        : { code: 'wrong-format', detail: 'Is not written as it must be: see /docs.' }
    }
    default:
      return { code: 'wrong-format', detail: 'Is not written as it must be: see /docs.' }
  }
}
