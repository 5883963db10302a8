// The secret by which the service gets a token, before it is kept: sealed, or taken over from what is kept already.

import type { EndpointSettings, SettingsChange } from '../../core/delivery/endpoint-settings.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import { countInvalid } from '../../core/plain/invalid-count.ts'
import {
  type EndpointOauth2,
  type GivenOauth2,
  keepsSecret,
  takesSecret,
} from '../../core/tokens/endpoint-oauth2.ts'
import { tokenSecretFor } from '../../store/secrets/endpoint-secrets.ts'
import { isBound, type SealedField, type Sealer } from '../../store/secrets/sealing.ts'

export function sealOauth2(
  sealer: Sealer,
  endpoint: { id: string; settings: EndpointSettings | null },
  { oauth2: given, ...change }: SettingsChange,
): Partial<EndpointSettings> {
  if (given === undefined) return change
  if (given === null) return { ...change, oauth2: null }
  const { clientSecret: _secret, ...rest } = given
  return { ...change, oauth2: { ...rest, sealedSecret: sealedSecretOf(sealer, endpoint, given) } }
}

function sealedSecretOf(
  sealer: Sealer,
  { id, settings }: { id: string; settings: EndpointSettings | null },
  given: GivenOauth2,
): EndpointOauth2['sealedSecret'] {
  const field = tokenSecretFor(id, given)
  const before = settings?.oauth2 ?? null
  const kept =
    keepsSecret(before, given) && opens(sealer, before.sealedSecret, field, !takesSecret(given))
      ? before.sealedSecret
      : null
  if (!takesSecret(given)) return kept ?? sealNone(sealer, field)
  if (given.clientSecret !== null) return sealer.seal(Buffer.from(given.clientSecret), field)
  if (kept !== null) return kept
  const detail =
    'Give clientSecret, privateKeyJwt: true or authentication "tls". A secret that was given before stays only while tokenUrl and clientId do.'
  throw new ServiceError('invalid-fields', countInvalid(1, 'field', ' of the body'), {
    errors: [{ pointer: '/oauth2/clientSecret', code: 'missing', detail }],
  })
}

/** One whose token endpoint was changed by another hand does not. */
function opens(sealer: Sealer, sealed: Buffer, field: SealedField, isEmpty: boolean): boolean {
  try {
    return (sealer.open(sealed, field).length === 0) === isEmpty
  } catch {
    return false
  }
}

/** Without a secret the token endpoint is bound all the same. */
function sealNone(sealer: Sealer, field: SealedField): Buffer | null {
  return sealer.binding === 'none' ? null : sealer.seal(Buffer.alloc(0), field)
}

/**
 * The settings as they are stored, bound to their token endpoint: for a row that is bound anew as a whole. What does not
 * open stays as it is.
 */
export function bindOauth2(
  sealer: Sealer,
  id: string,
  settings: EndpointSettings,
): EndpointSettings {
  const { oauth2 } = settings
  const sealed = oauth2?.sealedSecret ?? null
  if (oauth2 === null || sealer.binding === 'none' || (sealed !== null && isBound(sealed))) {
    return settings
  }
  const field = tokenSecretFor(id, oauth2)
  try {
    const sealedSecret = sealer.seal(sealed ? sealer.open(sealed, field) : Buffer.alloc(0), field)
    return { ...settings, oauth2: { ...oauth2, sealedSecret } }
  } catch {
    return settings
  }
}
