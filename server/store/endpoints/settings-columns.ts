// The columns of an endpoint's settings: all null while none was given.

import type {
  DeliverMode,
  DocumentMode,
  EndpointSettings,
  EventChoice,
  SignatureKind,
} from '../../core/delivery/endpoint-settings.ts'

export const SETTINGS_COLUMNS =
  'events, deliver, document, signatures, hmac_header_name, description'

export interface SettingsRow {
  events: EventChoice[] | null
  deliver: DeliverMode | null
  document: DocumentMode | null
  signatures: SignatureKind[] | null
  hmac_header_name: string | null
  description: string | null
}

export function toSettings(row: SettingsRow): EndpointSettings | null {
  const { events, deliver, document, signatures, hmac_header_name: hmacHeaderName } = row
  // The table has all four or none (settings_are_whole).
  if (deliver === null || document === null || signatures === null || hmacHeaderName === null) {
    return null
  }
  return { events, deliver, document, signatures, hmacHeaderName, description: row.description }
}

/** In the order of the columns. */
export function settingsValues(settings: EndpointSettings | null): unknown[] {
  if (settings === null) return [null, null, null, null, null, null]
  const { events, deliver, document, signatures, hmacHeaderName, description } = settings
  return [events, deliver, document, signatures, hmacHeaderName, description]
}
