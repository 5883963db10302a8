// The columns of an endpoint's settings: all null while none was given.

import type {
  DeliverMode,
  DocumentMode,
  EndpointSettings,
  EventChoice,
  SignatureKind,
} from '../../core/delivery/endpoint-settings.ts'
import { toEndpointTls } from '../../core/delivery/endpoint-tls.ts'

export const SETTINGS_COLUMNS =
  'events, deliver, document, signatures, hmac_header_name, description, client_certificate, certificate_authorities'

export interface SettingsRow {
  events: EventChoice[] | null
  deliver: DeliverMode | null
  document: DocumentMode | null
  signatures: SignatureKind[] | null
  hmac_header_name: string | null
  description: string | null
  client_certificate: string | null
  certificate_authorities: string[] | null
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
  return { events, deliver, document, signatures, hmacHeaderName, description, tls }
}

/** In the order of the columns. */
export function settingsValues(settings: EndpointSettings | null): unknown[] {
  if (settings === null) return [null, null, null, null, null, null, null, null]
  const { events, deliver, document, signatures, hmacHeaderName, description, tls } = settings
  return [
    ...[events, deliver, document, signatures, hmacHeaderName, description],
    ...[tls?.clientCertificate ?? null, tls?.certificateAuthorities ?? null],
  ]
}
