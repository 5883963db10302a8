// Gives another cell the keys that sign this one's tokens, so that a client who moves keeps its token. A cell that has
// signed none yet makes its first key for it: otherwise there would be nothing to share, and no one would notice.

import type { Pool } from 'pg'
import { copySigningKeys } from '../../store/schema/cells.ts'
import { Keyring, type KeyringDeps } from './keyring.ts'

/** Throws when the keys are under a master key that is not configured. Returns how many the other cell lacked. */
export async function shareSigningKeys(from: KeyringDeps, to: Pool): Promise<number> {
  await new Keyring(from).signer()
  return copySigningKeys(from.pool, to)
}
