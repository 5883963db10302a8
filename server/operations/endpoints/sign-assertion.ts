// The assertion by which the service proves itself to a receiver's token endpoint (RFC 7523 §3). The keys are those of
// webhooks, never those of access tokens: whatever a client gives as clientId and tokenUrl, it gets nothing signed that
// this service would take for a token of its own.

import type { CallbackOauth2 } from '../../core/tokens/endpoint-oauth2.ts'
import { signJws } from '../access/sign-jws.ts'
import type { Deps } from '../shared/deps.ts'

const LIFE_SECONDS = 60
/** Not the kind of any statement: common servers refuse every other. */
const TYP = 'JWT'

export async function signAssertion(
  { webhookKeys, clock, newId }: Pick<Deps, 'webhookKeys' | 'clock' | 'newId'>,
  { clientId, tokenUrl }: Pick<CallbackOauth2, 'clientId' | 'tokenUrl'>,
): Promise<string> {
  const [signer] = await webhookKeys.signers()
  if (signer === undefined) throw new Error('there is no key that signs')
  const iat = Math.floor(clock.nowMs() / 1_000)
  const claims = { iss: clientId, sub: clientId, aud: tokenUrl, jti: newId(), iat }
  return signJws(signer, TYP, { ...claims, exp: iat + LIFE_SECONDS })
}
