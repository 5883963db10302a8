// What the published interface says beyond the schemas that requests are checked with. A format of our own
// means nothing to a reader of /openapi.json: it is shown as the bounds and the pattern that it stands for.
// A rule over several fields stands under `published`, which the checks ignore: the handlers enforce it, and
// their messages name the field. That unknown members of a body are refused is said in each of its objects.

import type { TargetPolicy } from '../../core/network/network-rules.ts'
import { HEADER_NAME_PATTERN, HEADER_VALUE_PATTERN } from '../../core/signatures/extra-header.ts'
import { HMAC_HEADER_NAME_PATTERN } from '../../core/signatures/hmac-header-name.ts'
import { OAUTH_SCOPE_PATTERN, OAUTH_TEXT_PATTERN } from '../../core/tokens/endpoint-oauth2.ts'

type Schema = Readonly<Record<string, unknown>>

export interface PublishingPolicy {
  targets: Pick<TargetPolicy, 'loopbackAllowed'>
  sharedKeyLengthMin: number
}

/** More than white space, and no U+0000. */
export const TEXT_PATTERN = '^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$'
/** More than white space, and no control character. */
const KEY_PATTERN =
  '^[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f][^\\u0000-\\u001f\\u007f-\\u009f]*$'
const NO_CONTROL_PATTERN = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'
const EVERYONE_PATTERN = '^everyone$'
const ALL_EVENTS_PATTERN = '^payment\\.\\*$'
const HTTPS = '[Hh][Tt][Tt][Pp][Ss]'
/** No space, no backslash, no fragment, and no user info before the host. */
const REST_OF_URL = '://[^/?#@\\s\\\\]+([/?][^#\\s\\\\]*)?$'

function formatsOf(policy: PublishingPolicy): Readonly<Record<string, Schema>> {
  const scheme = policy.targets.loopbackAllowed ? `${HTTPS}?` : HTTPS
  return {
    'callback-url': { format: 'uri', minLength: 1, pattern: `^${scheme}${REST_OF_URL}` },
    'shared-key': { minLength: policy.sharedKeyLengthMin, pattern: KEY_PATTERN },
    'header-key': { pattern: HEADER_NAME_PATTERN },
    'header-value': { pattern: HEADER_VALUE_PATTERN },
    'hmac-header-name': { pattern: HMAC_HEADER_NAME_PATTERN },
    'oauth-text': { pattern: OAUTH_TEXT_PATTERN },
    'oauth-scope': { pattern: OAUTH_SCOPE_PATTERN },
    'all-events': { pattern: ALL_EVENTS_PATTERN },
    everyone: { pattern: EVERYONE_PATTERN },
    description: { pattern: NO_CONTROL_PATTERN },
    text: { pattern: TEXT_PATTERN },
  }
}

/** The parts of a route's schema that callers send, as they are published. */
export function publishRequest(schema: object, policy: PublishingPolicy): object {
  const formats = formatsOf(policy)
  const parts: Record<string, unknown> = { ...schema }
  const { body, querystring } = parts as { body?: { isTolerant?: true }; querystring?: object }
  if (querystring) parts.querystring = publish(querystring, { formats, isClosed: false })
  if (body) parts.body = publish(body, { formats, isClosed: body.isTolerant !== true })
  return parts
}

interface Publishing {
  formats: Readonly<Record<string, Schema>>
  /** Whether unknown members are refused. */
  isClosed: boolean
}

function publish(value: unknown, how: Publishing): unknown {
  if (Array.isArray(value)) return value.map((entry) => publish(entry, how))
  if (typeof value !== 'object' || value === null) return value
  const { published, isTolerant, refused: _reasons, ...schema } = value as OwnSchema
  const isClosed = isTolerant === undefined ? how.isClosed : !isTolerant
  const members = Object.fromEntries(
    Object.entries(schema).map(([name, member]) => [name, publish(member, { ...how, isClosed })]),
  )
  const closed = isClosed && isListOfMembers(schema) ? { additionalProperties: false } : {}
  const ours = typeof schema.format === 'string' ? how.formats[schema.format] : undefined
  if (ours === undefined) return { ...members, ...closed, ...published }
  const { format: _format, ...rest } = members
  return { ...rest, ...ours, ...published }
}

type OwnSchema = Schema & { published?: Schema; isTolerant?: boolean; refused?: unknown }

/** An object whose members are named one by one (unknown-members.ts). */
function isListOfMembers({ properties, patternProperties, additionalProperties }: Schema): boolean {
  const isOpen = patternProperties !== undefined || additionalProperties !== undefined
  return typeof properties === 'object' && !isOpen
}
