// The shapes that several operations share, as callers see them.

import { CIRCUIT_STATES } from '../../core/delivery/circuit.ts'
import { ENDPOINT_STATUSES, type Endpoint, HMAC_ALGORITHM } from '../../core/delivery/endpoint.ts'
import type { EndpointHealth } from '../../core/delivery/health.ts'
import { toClientCode } from '../../core/delivery/outcome-words.ts'
import { CALLBACK_URL_CHARACTERS_MAX } from '../../core/network/callback-url.ts'
import { isUuid } from '../../core/plain/uuid.ts'
import { HMAC_HEADER } from '../../core/signatures/callback-headers.ts'
import { SHARED_KEY_CHARACTERS_MAX } from '../../core/signatures/shared-key.ts'
import { notFound } from '../../operations/shared/service-errors.ts'
import { InstantOrNull, NumberOrNull, TextOrNull, Uuid } from '../basics/scalars.ts'
import { Type } from '../basics/type.ts'
import { SettingsShown, toHmacHeaderName, toSettingsShown } from './endpoint-settings-schema.ts'

export const ProblemSchema = Type.Object(
  {
    type: Type.String({ format: 'uri' }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    instance: Type.String({ description: '`urn:request:` and the request id' }),
    code: Type.String({ description: 'stable, kebab-case; each has a page at `type`' }),
    error: Type.Optional(Type.String({ description: 'RFC 6749 code, token operation only' })),
    error_description: Type.Optional(
      Type.String({
        description: '`detail` for OAuth libraries, token operation with a form only',
      }),
    ),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          pointer: Type.String({ description: 'RFC 6901 JSON pointer' }),
          code: Type.String(),
          detail: Type.String(),
        }),
        { description: 'All wrong fields at once.' },
      ),
    ),
  },
  { description: 'RFC 9457 problem details' },
)

export const EMPTY_BODY = Type.Unsafe<undefined>({ type: 'null', description: 'No body.' })

export const IdParams = Type.Object({ id: Type.String({ description: 'uuid' }) })

/** An id in a path. What is not a uuid is as unknown as any other: 404, never 400. */
export function readId(text: string): string {
  if (!isUuid(text)) throw notFound()
  return text.toLowerCase()
}

export const CallbackUrl = Type.String({
  format: 'callback-url',
  maxLength: CALLBACK_URL_CHARACTERS_MAX,
  description: 'An absolute https:// URL of at most 2048 characters that leads to a public host.',
})

export const SharedKey = Type.String({
  format: 'shared-key',
  maxLength: SHARED_KEY_CHARACTERS_MAX,
  description: 'Signs every callback. At most 256 characters; it is never shown again.',
})

/** What the URL parses to: two URLs are the same when this is. Its format has been checked. */
export function readHref(callbackUrl: string): string {
  return new URL(callbackUrl).href
}

const AccountId = Type.String({ format: 'uuid', description: 'The id of one of your accounts.' })

// For the published interface only; resolveAccount checks the header.
export const AccountHeader = Type.Object({ AccountId })
export const OptionalAccountHeader = Type.Object({ AccountId: Type.Optional(AccountId) })

const ITEM_EXAMPLE = {
  id: '019cade2-1350-7af3-913d-2f16aae956b4',
  endpointUrl: 'https://example.com/paybell',
  hmacHeaderName: HMAC_HEADER,
  algorithm: HMAC_ALGORITHM,
  status: 'ACTIVE',
}

export const EndpointItem = Type.Object(
  {
    id: Uuid,
    endpointUrl: Type.String(),
    hmacHeaderName: Type.String(),
    algorithm: Type.Enum([HMAC_ALGORITHM]),
    status: Type.Enum([...ENDPOINT_STATUSES]),
    ...SettingsShown,
  },
  {
    description:
      'An address that callbacks are sent to: a webhook or a subscription. The settings are shown when some were given.',
    examples: [ITEM_EXAMPLE],
  },
)

export const CircuitSchema = Type.Enum([...CIRCUIT_STATES])

export const HealthSchema = Type.Object({
  failingSince: InstantOrNull(),
  lastSuccessAt: InstantOrNull(),
  lastError: TextOrNull(),
  pending: Type.Integer(),
  circuit: CircuitSchema,
  nextProbeAt: InstantOrNull(
    'When the next attempt probes the endpoint, while its circuit is not closed; its deliveries wait for that. Null while it is.',
  ),
  successRate24h: NumberOrNull(),
  p95Ms: NumberOrNull(),
})

export function toEndpointItem(endpoint: Endpoint) {
  return {
    id: endpoint.id,
    endpointUrl: endpoint.url,
    hmacHeaderName: toHmacHeaderName(endpoint),
    algorithm: HMAC_ALGORITHM,
    status: endpoint.status,
    ...toSettingsShown(endpoint),
  }
}

/** As the endpoint's owner sees it. */
export function toClientHealth(health: EndpointHealth) {
  return toHealth({ ...health, lastError: health.lastError && toClientCode(health.lastError) })
}

export function toHealth(health: EndpointHealth) {
  return {
    ...health,
    failingSince: health.failingSince?.toISOString() ?? null,
    lastSuccessAt: health.lastSuccessAt?.toISOString() ?? null,
    nextProbeAt: health.nextProbeAt?.toISOString() ?? null,
  }
}
