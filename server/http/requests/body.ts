// Bodies: checks first the content type, then the size, then the JSON. The token and the account have been
// checked by then, because this runs after all onRequest hooks.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ServiceError } from '../../core/plain/errors.ts'
import { parseJson, parseJsonInSteps } from '../../core/plain/exact-json.ts'
import { checkNames } from '../../core/plain/spelling.ts'
import { NO_DRY_RUN } from '../basics/dry-run.ts'
import { onlyHeaderValue } from '../basics/header-values.ts'
import { LARGE_BYTES_MIN, type LargeWork } from '../basics/large-work.ts'
import { invalidFields } from '../basics/validation.ts'
import { FORM_TYPE } from './token-form.ts'

const JSON_TYPE = 'application/json'

export function acceptBodies(app: FastifyInstance, work: LargeWork): void {
  app.decorateRequest('amountText', undefined)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(JSON_TYPE, { parseAs: 'buffer' }, (request, bytes, done) => {
    try {
      // An operation without a body accepts an empty one with a JSON content type.
      if (bytes.length === 0 && wantedType(request) === null) return done(null, undefined)
      if (bytes.length >= LARGE_BYTES_MIN) {
        readLarge(request, bytes as Buffer, work).then((value) => done(null, value), done)
        return
      }
      const { value, amountText } = parseJson(bytes as Buffer)
      request.amountText = amountText
      done(null, value)
    } catch (error) {
      done(error as Error, undefined)
    }
  })
  app.addHook('preValidation', (request, _reply, done) => {
    const isExpected = request.is404 || wantedType(request) !== null
    done(isExpected ? undefined : refuseUnexpected(request.body))
  })
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    const wanted = wantedType(request)
    // Of two headers Node would use the first.
    const sent = onlyHeaderValue(request, 'content-type')
    if (wanted === null || isType(sent, wanted)) return done()
    if (request.route?.config?.takesForm !== true) return done(unsupported(wanted))
    done(isType(sent, FORM_TYPE) ? undefined : unsupported(`${wanted} or ${FORM_TYPE}`))
  })
}

const NO_MEMBERS = { known: new Set<string>(), isTolerant: false, refused: NO_DRY_RUN }

/** An operation that takes no body would not do what is asked for in one. */
function refuseUnexpected(body: unknown): ServiceError | undefined {
  // Bytes are read by a parser of the route's own.
  const isNone = body === undefined || body === null || Buffer.isBuffer(body)
  const names = typeof body === 'object' && !Array.isArray(body) ? Object.keys(body ?? {}) : null
  if (isNone || names?.length === 0) return undefined
  return names === null
    ? invalidFields([{ pointer: '', code: 'wrong-type', detail: 'This operation has no body.' }])
    : invalidFields(checkNames(names, NO_MEMBERS))
}

async function readLarge(
  request: FastifyRequest,
  bytes: Buffer,
  work: LargeWork,
): Promise<unknown> {
  const { value, amountText } = await work.runSteps(parseJsonInSteps(bytes))
  request.amountText = amountText
  await request.route?.config?.readAhead?.(value, work)
  return value
}

function unsupported(wanted: string): ServiceError {
  return new ServiceError('unsupported-media-type', `Send the body as ${wanted}, in UTF-8.`)
}

/** The content type that the route needs; null where no body is needed. */
function wantedType(request: FastifyRequest): string | null {
  const { route } = request
  return route?.config?.mediaType ?? (route?.schema?.body === undefined ? null : JSON_TYPE)
}

function isType(header: string | undefined, wanted: string): boolean {
  if (header === wanted) return true
  const [type, ...parameters] = (header ?? '').toLowerCase().split(';')
  if (type?.trim() !== wanted) return false
  return parameters.every((parameter) => {
    const [name, value] = parameter.split('=', 2)
    return name?.trim() !== 'charset' || /^\s*("utf-?8"|utf-?8)\s*$/.test(value ?? '')
  })
}
