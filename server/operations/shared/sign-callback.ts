// The service's own signature of a callback that is not the engine's: a test, or one that is shown again.

import type { EndpointSettings } from '../../core/delivery/endpoint-settings.ts'
import {
  type AsymmetricSignature,
  signAsymmetric,
  signedContent,
} from '../../core/signatures/asymmetric-signature.ts'
import type { ServiceKeys } from './deps.ts'

/** Null for an endpoint that does not ask for it, and when no key of that time is left. */
export async function signIfEnabled(
  keys: Pick<ServiceKeys, 'signers'>,
  settings: EndpointSettings,
  what: { eventId: string; atMs: number; body: readonly Uint8Array[] },
): Promise<AsymmetricSignature | null> {
  if (!settings.signatures.includes('ed25519')) return null
  const signers = await keys.signers(what.atMs)
  if (signers.length === 0) return null
  const timestampSeconds = Math.floor(what.atMs / 1_000)
  return signAsymmetric(signers, signedContent(what.eventId, timestampSeconds, what.body))
}
