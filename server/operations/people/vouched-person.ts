// Who a person is, and which of the groups count here, by the claims of an ID token.

import type { GroupRole, OidcSettings } from '../../config/config.ts'

export interface VouchedPerson {
  subject: string
  sid: string | null
  email: string | null
  groups: readonly string[]
  /** The first of the setting that the person is in; null: no role. */
  granted: GroupRole | null
}

/** OpenID Connect Core §2: a subject has 255 ASCII characters at most. */
const SUBJECT = /^[!-~]{1,255}$/
/** It stands in the audit: one word, so that it cannot be taken for more than an address. */
const EMAIL = /^[^\s\p{C}]{1,254}$/u
const SID_CHARACTERS_MAX = 255

/** Null when the claims name no one. */
export function toVouchedPerson(
  claims: Readonly<Record<string, unknown>>,
  { roleClaim, roles }: Pick<OidcSettings, 'roleClaim' | 'roles'>,
): VouchedPerson | null {
  const { sub, sid, email, email_verified: isVerified } = claims
  if (typeof sub !== 'string' || !SUBJECT.test(sub)) return null
  const claim = Object.hasOwn(claims, roleClaim) ? claims[roleClaim] : []
  const groups = (Array.isArray(claim) ? claim : [claim]).filter((one) => typeof one === 'string')
  return {
    subject: sub,
    sid: typeof sid === 'string' && sid.length <= SID_CHARACTERS_MAX ? sid : null,
    email: typeof email === 'string' && EMAIL.test(email) && isVerified !== false ? email : null,
    groups,
    granted: roles.find(({ group }) => groups.includes(group)) ?? null,
  }
}
