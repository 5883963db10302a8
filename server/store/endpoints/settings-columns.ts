// The columns of an endpoint's settings: all null while none was given.

import type {
  DeliverMode,
  DocumentMode,
  EndpointSettings,
  EventChoice,
  SignatureKind,
} from '../../core/delivery/endpoint-settings.ts'
import { toEndpointTls } from '../../core/delivery/endpoint-tls.ts'
import type { EndpointOauth2 } from '../../core/tokens/endpoint-oauth2.ts'

export const SETTINGS_COLUMNS =
  'events, deliver, document, signatures, hmac_header_name, description, client_certificate, certificate_authorities, oauth2, oauth2_secret'

export interface SettingsRow {
  events: EventChoice[] | null
  deliver: DeliverMode | null
  document: DocumentMode | null
  signatures: SignatureKind[] | null
  hmac_header_name: string | null
  description: string | null
  client_certificate: string | null
  certificate_authorities: string[] | null
  oauth2: Omit<EndpointOauth2, 'sealedSecret'> | null
  oauth2_secret: Buffer | null
}

export function toSettings(row: SettingsRow): EndpointSettings | null {
  const { events, deliver, document, signatures, hmac_header_name: hmacHeaderName } = row
  // The table has all four or none (settings_are_whole).
  if (deliver === null || document === null || signatures === null || hmacHeaderName === null) {
    return null
  }
  const { description } = row
  const tls = toEndpointTls({
    clientCertificate: row.client_certificate,
    certificateAuthorities: row.certificate_authorities,
  })
  const oauth2 = row.oauth2 && { ...row.oauth2, sealedSecret: row.oauth2_secret }
  return { events, deliver, document, signatures, hmacHeaderName, description, tls, oauth2 }
}

/** In the order of the columns. */
export function settingsValues(settings: EndpointSettings | null): unknown[] {
  if (settings === null) return SETTINGS_COLUMNS.split(',').map(() => null)
  const { events, deliver, document, signatures, hmacHeaderName, description, tls } = settings
  return [
    ...[events, deliver, document, signatures, hmacHeaderName, description],
    ...[tls?.clientCertificate ?? null, tls?.certificateAuthorities ?? null],
    ...oauth2Values(settings.oauth2),
  ]
}

function oauth2Values(oauth2: EndpointOauth2 | null): unknown[] {
  if (oauth2 === null) return [null, null]
  const { sealedSecret, ...rest } = oauth2
  return [JSON.stringify(rest), sealedSecret]
}
