// A link to the file of one event, for one endpoint: it names both, and a MAC makes it unguessable. It holds for some
// days after the event, which the event's id tells.

import { CANONICAL_UUID, uuidTimeMs } from '../plain/uuid.ts'

export const DOCUMENTS_PATH = '/documents'

export interface LinkedDocument {
  eventId: string
  endpointId: string
}

/** What the MAC is made over, as the link spells it. */
export function linkedText({ eventId, endpointId }: LinkedDocument): string {
  return `${eventId}.${endpointId}`
}

/** Null when it cannot be a link of ours. */
export function parseLink(text: string): (LinkedDocument & { signature: string }) | null {
  const [eventId = '', endpointId = '', signature = '', ...rest] = text.split('.')
  if (rest.length > 0 || !CANONICAL_UUID.test(eventId) || !CANONICAL_UUID.test(endpointId)) {
    return null
  }
  return { eventId, endpointId, signature }
}

/** Whether its MAC can be one at all: SHA-256 in base64url. */
export function isShaped({ signature }: { signature: string }): boolean {
  return /^[\w-]{43}$/.test(signature)
}

export function linkEndsAtMs({ eventId }: LinkedDocument, days: number): number {
  return uuidTimeMs(eventId) + days * 86_400_000
}

/** RFC 6266: the name for those that read any letter, and in ASCII. */
export function contentDisposition(name: string): string {
  const safe = safeName(name)
  const plain = safe.replace(/[^\x20-\x7e]/g, '_')
  const encoded = encodeURIComponent(safe).replace(
    /['()]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}

/** The last part of a path, without what would break the header or be more than a name on some system (§4.3). */
function safeName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) as string
  // Control and formatting characters, too: one of them turns the rest of a name around.
  const kept = last.toWellFormed().replace(/[\p{Cc}\p{Cf}"%:*?<>|]/gu, '_')
  return kept.replace(/^[ .]+|[ .]+$/g, '') || 'document'
}
