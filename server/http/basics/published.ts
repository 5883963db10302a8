// What the published interface says beyond the schemas that requests are checked with. A format of our own
// means nothing to a reader of /openapi.json: it is shown as the bounds and the pattern that it stands for.
// A rule over several fields stands under `published`, which the checks ignore: the handlers enforce it, and
// their messages name the field.

import type { TargetPolicy } from '../../core/network/network-rules.ts'
import { HEADER_NAME_PATTERN, HEADER_VALUE_PATTERN } from '../../core/signatures/extra-header.ts'
import { HMAC_HEADER_NAME_PATTERN } from '../../core/signatures/hmac-header-name.ts'

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
    'all-events': { pattern: ALL_EVENTS_PATTERN },
    description: { pattern: NO_CONTROL_PATTERN },
    text: { pattern: TEXT_PATTERN },
  }
}

/** The parts of a route's schema that callers send, as they are published. */
export function publishRequest(schema: object, policy: PublishingPolicy): object {
  const formats = formatsOf(policy)
  const parts: Record<string, unknown> = { ...schema }
  for (const part of ['body', 'querystring']) {
    if (parts[part] !== undefined) parts[part] = publish(parts[part], formats)
  }
  return parts
}

function publish(value: unknown, formats: Readonly<Record<string, Schema>>): unknown {
  if (Array.isArray(value)) return value.map((entry) => publish(entry, formats))
  if (typeof value !== 'object' || value === null) return value
  const { published, ...schema } = value as Schema & { published?: Schema }
  const members = Object.fromEntries(
    Object.entries(schema).map(([name, member]) => [name, publish(member, formats)]),
  )
  const ours = typeof schema.format === 'string' ? formats[schema.format] : undefined
  if (ours === undefined) return { ...members, ...published }
  const { format: _, ...rest } = members
  return { ...rest, ...ours, ...published }
}
