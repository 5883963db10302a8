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
import type { Sealer } from '../../store/secrets/sealing.ts'

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
  if (!takesSecret(given)) return null
  if (given.clientSecret !== null) {
    const field = { column: 'endpoints.oauth2_secret', row: id }
    return sealer.seal(Buffer.from(given.clientSecret), field)
  }
  const before = settings?.oauth2 ?? null
  if (before !== null && keepsSecret(before, given)) return before.sealedSecret
  const detail =
    'Give clientSecret, privateKeyJwt: true or authentication "tls". A secret that was given before stays only while tokenUrl and clientId do.'
  throw new ServiceError('invalid-fields', countInvalid(1, 'field', ' of the body'), {
    errors: [{ pointer: '/oauth2/clientSecret', code: 'missing', detail }],
  })
}
