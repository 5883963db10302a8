// The form that OAuth libraries send to POST /auth/token (RFC 6749 §4.4.2): read into the same credentials
// that a JSON body has, and answered, where it fails, in a way that those libraries read.

import type { FastifyRequest } from 'fastify'
import { type FieldError, ServiceError } from '../../core/plain/errors.ts'
import { checkNames } from '../../core/plain/spelling.ts'
import { NIL_UUID } from '../../core/plain/uuid.ts'
import { ASSERTION_TYPE, readAssertion } from '../../core/proofs/client-assertion.ts'
import { headerValues, onlyHeaderValue } from '../basics/header-values.ts'
import { invalidFields } from '../basics/validation.ts'

export const FORM_TYPE = 'application/x-www-form-urlencoded'

export const GRANT_TYPE = 'client_credentials'

interface Credentials {
  clientId: string
  clientSecret: string
}

/** Throws for what does not conform; whether the credentials are right is judged later. */
export function readTokenForm(text: string, request: FastifyRequest): Credentials {
  const form = new URLSearchParams(text)
  const basic = readBasic(headerValues(request, 'authorization'))
  const errors: FieldError[] = []
  // RFC 6749 §3.2: no parameter twice, known or not, and one without a value counts as left out.
  for (const name of new Set(form.keys())) {
    // What is no name of a parameter may be anything, and is not repeated to the caller.
    const pointer = /^[a-z_]{1,40}$/.test(name) ? `/${name}` : ''
    if (form.getAll(name).length > 1) errors.push({ pointer, ...REPEATED })
  }
  // §3.2 also asks to ignore what is not known; what is almost known was meant.
  errors.push(...checkNames(form.keys(), FORM_NAMES))
  const read = (name: string) => form.get(name) || undefined
  const demand = (name: string, value: string | undefined): string => {
    if (value === undefined) errors.push({ pointer: `/${name}`, ...MISSING })
    return value ?? ''
  }
  const grantType = demand('grant_type', read('grant_type'))
  const clientId = read('client_id')
  const clientSecret = read('client_secret')
  const assertion = read('client_assertion')
  const assertionType = read('client_assertion_type')
  if (assertion !== undefined || assertionType !== undefined) {
    demand('client_assertion', assertion)
    if (demand('client_assertion_type', assertionType) !== ASSERTION_TYPE && assertionType) {
      errors.push({ pointer: '/client_assertion_type', ...NOT_THE_TYPE })
    }
    if (basic !== null || clientSecret !== undefined) {
      errors.push({ pointer: '/client_assertion', ...TWO_METHODS })
    }
  } else if (basic !== null) {
    // §2.3: one method of authentication. A client_id alone is none, and some libraries repeat it.
    if (clientSecret !== undefined || (clientId ?? basic.clientId) !== basic.clientId) {
      errors.push({ pointer: '/client_secret', ...TWO_METHODS })
    }
  } else {
    demand('client_id', clientId)
    demand('client_secret', clientSecret)
  }
  if (errors.length > 0) throw invalidFields(errors)
  if (grantType !== GRANT_TYPE) {
    throw new ServiceError('unsupported-grant-type', `Only ${GRANT_TYPE} is supported.`)
  }
  if (assertion !== undefined) return readAsserted(assertion, clientId, request)
  return basic ?? { clientId: clientId as string, clientSecret: clientSecret as string }
}

/** RFC 7521 §4.2: client_id may be left out, because the assertion has it; another one is refused as a wrong secret is. */
function readAsserted(
  assertion: string,
  clientId: string | undefined,
  request: FastifyRequest,
): Credentials {
  const claimed = readAssertion(assertion)?.clientId ?? NIL_UUID
  const isAnother = clientId !== undefined && clientId.toLowerCase() !== claimed.toLowerCase()
  request.clientAssertion = isAnother ? '-' : assertion
  return { clientId: claimed, clientSecret: '-' }
}

const FORM_NAMES = {
  known: new Set([
    'grant_type',
    'client_id',
    'client_secret',
    'client_assertion',
    'client_assertion_type',
    'scope',
  ]),
  isTolerant: true,
}

const REPEATED = { code: 'repeated', detail: 'Must be given once.' }
const NOT_THE_TYPE = { code: 'not-in-list', detail: `Must be ${ASSERTION_TYPE}.` }
const MISSING = { code: 'missing', detail: 'This field is required.' }
const TWO_METHODS = {
  code: 'two-methods',
  detail: 'Send one of them: a secret in the body, HTTP Basic, or an assertion.',
}

/** RFC 7617, with both halves form-encoded as RFC 6749 §2.3.1 asks. Null where there is no such header. */
function readBasic([header, ...others]: readonly string[]): Credentials | null {
  if (header === undefined || !/^basic( |$)/i.test(header)) return null
  const encoded = /^basic +([\w+/-]+=*)$/i.exec(header)?.[1]
  const pair = Buffer.from(encoded ?? '', 'base64').toString('utf8')
  const colon = pair.indexOf(':')
  const clientId = decodeFormText(pair.slice(0, Math.max(colon, 0)))
  const clientSecret = decodeFormText(pair.slice(colon + 1))
  if (others.length > 0 || !clientId || !clientSecret) {
    throw new ServiceError('invalid-credentials', 'The Authorization header holds no credentials.')
  }
  return { clientId, clientSecret }
}

function decodeFormText(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

export function isTokenForm(request: FastifyRequest): boolean {
  if (request.route?.config?.takesForm !== true) return false
  const [type] = (onlyHeaderValue(request, 'content-type') ?? '').toLowerCase().split(';')
  return type?.trim() === FORM_TYPE
}

/**
 * What a problem has besides as the answer to a form. RFC 6749 §5.2 sends errors as application/json, and
 * libraries that ask for that type refuse to read another; callers that do not ask get problem+json as
 * everywhere. A 401 names the scheme that works here.
 */
export function formProblem(request: FastifyRequest, { message }: ServiceError, status: number) {
  const accepted = headerValues(request, 'accept').join().toLowerCase()
  const wantsJson = accepted.includes('application/json') && !accepted.includes('problem+json')
  return {
    headers: {
      ...(wantsJson ? { 'content-type': 'application/json' } : {}),
      ...(status === 401 ? { 'www-authenticate': 'Basic realm="paybell", charset="UTF-8"' } : {}),
    },
    // §5.2 allows ASCII without quotes and backslashes in it.
    members: { error_description: message.replaceAll(/["\\]/g, "'").replaceAll(/[^ -~]/g, '?') },
  }
}
