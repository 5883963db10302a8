// What an endpoint hears, and how (decisions, What an endpoint hears): settings that its owner may give. None has
// to be given, and an endpoint without any behaves, and is shown, as if they did not exist.

import { EVENT_KINDS, type EventKind } from '../payments/payment.ts'
import { HMAC_HEADER } from '../signatures/callback-headers.ts'
import { type EndpointOauth2, type GivenOauth2, oauth2Text } from '../tokens/endpoint-oauth2.ts'
import { type EndpointTls, tlsText } from './endpoint-tls.ts'

/** All kinds, those to come included. */
export const ALL_EVENTS = 'payment.*'
export const EVENT_CHOICES = [...EVENT_KINDS, ALL_EVENTS] as const
export type EventChoice = EventKind | typeof ALL_EVENTS

export const DELIVER_MODES = ['every', 'latest'] as const
export type DeliverMode = (typeof DELIVER_MODES)[number]

export const DOCUMENT_MODES = ['inline', 'link', 'none'] as const
export type DocumentMode = (typeof DOCUMENT_MODES)[number]

/** What a delivery does with the file instead of carrying it; null: it carries it. */
export type DocumentInstead = Exclude<DocumentMode, 'inline'> | null

export const SIGNATURE_KINDS = ['hmac', 'ed25519'] as const
export type SignatureKind = (typeof SIGNATURE_KINDS)[number]

export const DESCRIPTION_CHARACTERS_MAX = 200

export interface EndpointSettings {
  /** Null: all. */
  events: readonly EventChoice[] | null
  deliver: DeliverMode
  document: DocumentMode
  /** Always with `hmac`. */
  signatures: readonly SignatureKind[]
  hmacHeaderName: string
  /** For people. */
  description: string | null
  /** Null: no certificate is shown, and the public authorities vouch for the receiver. */
  tls: EndpointTls | null
  /** Null: callbacks carry no token. */
  oauth2: EndpointOauth2 | null
}

/** What is given; the rest stays as it is. */
export type SettingsChange = Partial<Omit<EndpointSettings, 'oauth2'>> & {
  oauth2?: GivenOauth2 | null
}

export const DEFAULT_SETTINGS: EndpointSettings = {
  events: null,
  deliver: 'every',
  document: 'inline',
  signatures: ['hmac'],
  hmacHeaderName: HMAC_HEADER,
  description: null,
  tls: null,
  oauth2: null,
}

/** The settings after the change; null when none has ever been given. */
export function changeSettings(
  before: EndpointSettings | null,
  change: Partial<EndpointSettings>,
): EndpointSettings | null {
  if (Object.keys(change).length === 0) return before
  return { ...(before ?? DEFAULT_SETTINGS), ...change }
}

/** The settings as single lines, for the trail and for messages. */
export function settingTexts(settings: EndpointSettings): Record<keyof EndpointSettings, string> {
  return {
    events: settings.events?.join(', ') ?? 'all',
    deliver: settings.deliver,
    document: settings.document,
    signatures: settings.signatures.join(', '),
    hmacHeaderName: settings.hmacHeaderName,
    description: settings.description ?? '',
    tls: tlsText(settings.tls),
    oauth2: oauth2Text(settings.oauth2),
  }
}
