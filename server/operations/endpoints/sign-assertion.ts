// The assertion by which the service proves itself to a receiver's token endpoint (RFC 7523 §3). Each client has keys of its
// own there: whatever another one gives as clientId and tokenUrl, it gets nothing signed that a bank takes for this one.

import { type AssertionKey, toAssertionKey } from '../../core/tokens/assertion-key.ts'
import type { CallbackOauth2 } from '../../core/tokens/endpoint-oauth2.ts'
import { readClientId } from '../../store/secrets/clients.ts'
import { signJws } from '../access/sign-jws.ts'
import type { Deps } from '../shared/deps.ts'

const LIFE_SECONDS = 60
/** Not the kind of any statement: common servers refuse every other. */
const TYP = 'JWT'

/** One for each master key; that of the first signs. A new master key comes behind the old one first, so banks know its key
 *  before it signs. */
export function assertionKeys(
  { sealer }: Pick<Deps, 'sealer'>,
  clientId: string,
): readonly AssertionKey[] {
  return sealer.assertionKeyBytes(clientId.toLowerCase()).map(toAssertionKey)
}

export async function signAssertion(
  deps: Pick<Deps, 'pool' | 'sealer' | 'clock' | 'newId'>,
  clientKey: number,
  { clientId, tokenUrl }: Pick<CallbackOauth2, 'clientId' | 'tokenUrl'>,
): Promise<string> {
  const [signer] = assertionKeys(deps, await readClientId(deps.pool, clientKey))
  if (signer === undefined) throw new Error('there is no key that signs')
  const iat = Math.floor(deps.clock.nowMs() / 1_000)
  const claims = { iss: clientId, sub: clientId, aud: tokenUrl, jti: deps.newId(), iat }
  return signJws(signer, TYP, { ...claims, exp: iat + LIFE_SECONDS })
}
