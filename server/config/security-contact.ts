// Where people report a vulnerability of this service: the two settings of /.well-known/security.txt (RFC 9116).

export interface SecurityContact {
  /** URIs, in the order in which they are preferred. */
  contacts: readonly string[]
  /** As RFC 3339 writes it. */
  expiresAt: string
}

const CONTACTS_MAX = 5
const CONTACT_LENGTH_MAX = 200
/** RFC 9116 §2.5.3: a web page must be https. */
const CONTACT = /^(https:\/\/[^\s,]+|mailto:[^\s,@]+@[^\s,@]+|tel:\+?[\d.-]+)$/

export function parseContacts(text: string): readonly string[] | undefined {
  const contacts = text.split(',').map((contact) => contact.trim())
  const isGood = (contact: string) =>
    contact.length <= CONTACT_LENGTH_MAX && CONTACT.test(contact) && URL.canParse(contact)
  return contacts.length <= CONTACTS_MAX && contacts.every(isGood) ? contacts : undefined
}

/** A day, or an instant with its zone. */
export function parseExpiry(text: string): string | undefined {
  if (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d))?$/.test(text)) return undefined
  const [day, instant] = [new Date(text.slice(0, 10)), new Date(text)]
  if (Number.isNaN(day.getTime()) || Number.isNaN(instant.getTime())) return undefined
  // A day that no month has would be taken for another one.
  if (!day.toISOString().startsWith(text.slice(0, 10))) return undefined
  return instant.toISOString().replace('.000Z', 'Z')
}

/** Both or neither: a contact without an end would stay there when no one reads it any more. */
export function toSecurityContact(
  contacts: readonly string[] | undefined,
  expiresAt: string | undefined,
  faults: string[],
): SecurityContact | null {
  if (contacts !== undefined && expiresAt !== undefined) return { contacts, expiresAt }
  if (faults.some((fault) => fault.startsWith('PAYBELL_SECURITY_'))) return null
  if (contacts !== undefined) {
    faults.push('PAYBELL_SECURITY_CONTACT needs PAYBELL_SECURITY_EXPIRES, until when it is good')
  }
  if (expiresAt !== undefined) {
    faults.push('PAYBELL_SECURITY_EXPIRES is set without PAYBELL_SECURITY_CONTACT')
  }
  return null
}
