// The settings of an endpoint as callers give and see them. A member that is left out stays as it is; answers show
// the settings of an endpoint only when some were given, so that calls that know of none get what they always got.

import type { Static } from 'typebox'
import { CHAIN_CHARACTERS_MAX } from '../../core/certificates/certificate-chain.ts'
import type { Endpoint } from '../../core/delivery/endpoint.ts'
import {
  ALL_EVENTS,
  DEFAULT_SETTINGS,
  DELIVER_MODES,
  DESCRIPTION_CHARACTERS_MAX,
  DOCUMENT_MODES,
  EVENT_CHOICES,
  type EventChoice,
  type SettingsChange,
  SIGNATURE_KINDS,
} from '../../core/delivery/endpoint-settings.ts'
import { AUTHORITIES_MAX, type EndpointTls } from '../../core/delivery/endpoint-tls.ts'
import type { FieldError } from '../../core/plain/errors.ts'
import { NO_LISTENER_SETTINGS } from '../../operations/endpoints/change-endpoint.ts'
import { TextOrNull } from '../basics/scalars.ts'
import { Type } from '../basics/type.ts'
import { invalidFields } from '../basics/validation.ts'
import {
  Oauth2Fields,
  Oauth2Shown,
  oauth2Faults,
  readOauth2,
  toOauth2Shown,
} from './endpoint-oauth2-schema.ts'

export const EventChoiceSchema = Type.Enum([...EVENT_CHOICES])
const ABOUT_EVENTS =
  'Which kinds of event it gets: a list of kinds, or `payment.*` for all of them. Null: all. What it does not get makes no delivery, and costs nothing; `X-Paybell-Sequence` then skips numbers.'

export const DeliverSchema = Type.Enum([...DELIVER_MODES], {
  description:
    '`every`: each update of a payment is sent, in order. `latest`: of the updates that wait, only the newest is sent, and those before it end as `SUPERSEDED`.',
})
export const DocumentModeSchema = Type.Enum([...DOCUMENT_MODES], {
  description:
    'How the file of a payment comes: `inline` in the body as base64, as a `link` to fetch it with, or not at all (`none`).',
})
export const SignatureKindSchema = Type.Enum([...SIGNATURE_KINDS])
const ABOUT_SIGNATURES =
  '`hmac` is always there. `ed25519` adds a signature that is checked with a public key.'
const ABOUT_HEADER = 'The header that carries the HMAC.'
const Description = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  format: 'description',
  maxLength: DESCRIPTION_CHARACTERS_MAX,
  description: 'A note for people, at most 200 characters.',
})
const ABOUT_CERTIFICATE =
  'Which client certificate the receiver is shown when it asks who calls (mTLS): the id of one of `GET /v1/client-certificates`, or `default` for the one of them that the operator made the default. Null: none.'
const ABOUT_AUTHORITIES =
  'Certificates of the authorities, as PEM, that vouch for the receiver in place of the public ones. Null: the public ones.'
interface TlsGiven {
  clientCertificate?: string | null
  certificateAuthorities?: string[] | string | null
}

/** What may be given of it; null takes all of it back. */
export const TlsRequest = Type.Unsafe<TlsGiven>({
  type: 'object',
  isTolerant: false,
  properties: {
    clientCertificate: {
      type: ['string', 'null'],
      minLength: 1,
      maxLength: 36,
      description: ABOUT_CERTIFICATE,
    },
    certificateAuthorities: {
      type: ['array', 'string', 'null'],
      maxLength: CHAIN_CHARACTERS_MAX,
      minItems: 1,
      maxItems: AUTHORITIES_MAX,
      items: { type: 'string', maxLength: CHAIN_CHARACTERS_MAX },
      description: ABOUT_AUTHORITIES,
    },
  },
  description: 'For receivers that ask who calls, or that a private authority vouches for.',
})
const TlsFields = Type.Unsafe<TlsGiven | null>({ ...TlsRequest, type: ['object', 'null'] })
/** A list of several kinds does not name all of them as well. */
const NOT_ALL_AND_SOME = {
  not: { type: 'array', minItems: 2, contains: { const: ALL_EVENTS } },
}
const eventList = {
  items: EventChoiceSchema,
  minItems: 1,
  uniqueItems: true,
  description: ABOUT_EVENTS,
  published: NOT_ALL_AND_SOME,
}

/** What may be given, each member or none. */
export const SettingsFields = {
  events: Type.Optional(
    Type.Unsafe<EventChoice[] | typeof ALL_EVENTS | null>({
      type: ['array', 'string', 'null'],
      format: 'all-events',
      ...eventList,
    }),
  ),
  deliver: Type.Optional(DeliverSchema),
  document: Type.Optional(DocumentModeSchema),
  signatures: Type.Optional(
    Type.Array(SignatureKindSchema, {
      minItems: 1,
      uniqueItems: true,
      description: ABOUT_SIGNATURES,
      published: { contains: { const: 'hmac' } },
    }),
  ),
  hmacHeaderName: Type.Optional(
    Type.String({
      format: 'hmac-header-name',
      description: `${ABOUT_HEADER} It begins with X-; \`X-Paybell-Hmac-Previous\` keeps its name.`,
    }),
  ),
  description: Type.Optional(Description),
  tls: Type.Optional(TlsFields),
  oauth2: Type.Optional(Oauth2Fields),
}

/** Of what has no settings: why each of them is refused. */
export const REFUSED_SETTINGS = Object.fromEntries(
  Object.keys(SettingsFields).map((name) => [name, NO_LISTENER_SETTINGS]),
)

/** The same, as the SDK gives it. */
export const SettingsSchema = Type.Object({
  ...SettingsFields,
  events: Type.Optional(
    Type.Unsafe<EventChoice[] | null>({ type: ['array', 'null'], ...eventList }),
  ),
})

export const TlsShown = Type.Object(
  {
    clientCertificate: TextOrNull(ABOUT_CERTIFICATE),
    certificateAuthorities: Type.Unsafe<readonly string[] | null>({
      type: ['array', 'null'],
      items: { type: 'string' },
      description: ABOUT_AUTHORITIES,
    }),
  },
  { description: 'Only where it was given.' },
)

/** What an item shows, besides hmacHeaderName, when settings were given. */
export const SettingsShown = {
  events: Type.Optional(
    Type.Unsafe<readonly EventChoice[] | null>({
      type: ['array', 'null'],
      items: EventChoiceSchema,
      description: ABOUT_EVENTS,
    }),
  ),
  deliver: Type.Optional(DeliverSchema),
  document: Type.Optional(DocumentModeSchema),
  signatures: Type.Optional(Type.Array(SignatureKindSchema, { description: ABOUT_SIGNATURES })),
  description: Type.Optional(TextOrNull('A note for people.')),
  tls: Type.Optional(TlsShown),
  oauth2: Type.Optional(Oauth2Shown),
}

export function toSettingsShown({ settings }: Pick<Endpoint, 'settings'>) {
  if (settings === null) return {}
  const { events, deliver, document, signatures, description, tls, oauth2 } = settings
  const shown = { events, deliver, document, signatures: [...signatures], description }
  return {
    ...shown,
    ...(tls !== null && { tls }),
    ...(oauth2 !== null && { oauth2: toOauth2Shown(oauth2) }),
  }
}

export function toHmacHeaderName({ settings }: Pick<Endpoint, 'settings'>): string {
  return (settings ?? DEFAULT_SETTINGS).hmacHeaderName
}

const SettingsBody = Type.Object(SettingsFields)

/** The members that were given. Throws for those that contradict one another. */
export function readSettings(body: Static<typeof SettingsBody>): SettingsChange {
  const { events, deliver, document, signatures, hmacHeaderName, description, tls } = body
  const list = typeof events === 'string' ? [events] : events
  const oauth2 = body.oauth2 && readOauth2(body.oauth2)
  const errors: FieldError[] = oauth2 ? oauth2Faults(oauth2) : []
  if (list && list.length > 1 && list.includes(ALL_EVENTS)) {
    errors.push({
      pointer: '/events',
      code: 'contradictory',
      detail: 'Give payment.* alone, because it is every kind, or a list of kinds without it.',
    })
  }
  if (signatures && !signatures.includes('hmac')) {
    errors.push({
      pointer: '/signatures',
      code: 'contradictory',
      detail: 'The HMAC is always there: give ["hmac"] or ["hmac", "ed25519"].',
    })
  }
  if (errors.length > 0) throw invalidFields(errors)
  return {
    ...(list !== undefined && { events: list }),
    ...(deliver !== undefined && { deliver }),
    ...(document !== undefined && { document }),
    ...(signatures !== undefined && { signatures: signatures.toSorted().toReversed() }),
    ...(hmacHeaderName !== undefined && { hmacHeaderName }),
    ...(description !== undefined && { description: description?.trim() || null }),
    ...(tls !== undefined && { tls: tls && readTls(tls) }),
    ...(oauth2 !== undefined && { oauth2 }),
  }
}

/** What is left out of it is not asked for. */
function readTls({
  clientCertificate = null,
  certificateAuthorities: given = null,
}: TlsGiven): EndpointTls {
  return { clientCertificate, certificateAuthorities: typeof given === 'string' ? [given] : given }
}
