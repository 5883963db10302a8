// The token that an endpoint's receiver asks for, as a form gives it: all of it, because it is one setting. A secret that is
// left empty is not sent, and the service keeps the one that it has.

import type { EndpointSettings } from '../../../../sdk/src/wire/types.ts'
import type { Endpoint } from '../../api/types.ts'

export type ShownOauth2 = Endpoint['oauth2']

/** How the service proves itself to the token endpoint; empty: callbacks carry no token. */
export type Proof = '' | 'basic' | 'post' | 'key' | 'tls'

export function takesSecret(proof: Proof): boolean {
  return proof === 'basic' || proof === 'post'
}

export function proofOf(oauth2: ShownOauth2): Proof {
  if (!oauth2) return ''
  return oauth2.privateKeyJwt ? 'key' : (oauth2.authentication ?? 'basic')
}

/** Undefined: it was left alone. */
export function readOauth2(
  text: (name: string) => string,
  shown: ShownOauth2,
): EndpointSettings['oauth2'] {
  const proof = text('proof') as Proof
  if (proof === '') return shown ? null : undefined
  const clientSecret = takesSecret(proof) ? text('clientSecret') : ''
  const given = {
    tokenUrl: text('tokenUrl'),
    clientId: text('clientId'),
    scope: text('scope'),
    audience: text('audience'),
  }
  const isSame =
    proof === proofOf(shown) &&
    clientSecret === '' &&
    Object.entries(given).every(([name, value]) => value === textOf(shown, name))
  if (isSame) return undefined
  const { tokenUrl, clientId, scope, audience } = given
  return {
    tokenUrl,
    clientId,
    ...(proof === 'key' ? { privateKeyJwt: true } : { authentication: proof }),
    ...(clientSecret === '' ? {} : { clientSecret }),
    ...(scope === '' ? {} : { scope }),
    ...(audience === '' ? {} : { audience }),
  }
}

export function textOf(shown: ShownOauth2, name: string): string {
  return String((shown as Readonly<Record<string, unknown>> | null | undefined)?.[name] ?? '')
}
