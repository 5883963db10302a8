// What the service's own keys sign, and how long they verify after they are replaced.

import { DAY_MS } from '../../core/delivery/backoff.ts'
import type { KeyTable } from '../../store/secrets/signing-keys.ts'
import type { Deps } from '../shared/deps.ts'

/** Added to a token's life, for late reloads and for clocks that disagree. */
const RETIRED_KEY_MARGIN_MS = 10 * 60_000

/** What the keys of a table are for. */
export interface KeyPurpose {
  table: KeyTable
  /** What the audit calls one of them. */
  object: string
  /** How long a retired key goes on verifying. */
  overlapMs(config: Deps['config']): number
  /** However the service is or was configured. */
  overlapMsMax: number
  /** Whether a retired key signs beside the new one for as long as it verifies. */
  signsInOverlap: boolean
  /** Whether it is kept which were revoked: what they have signed lies with others, who ask. */
  keepsRevoked: boolean
}

/** Tokens of a retired key live on until they expire. */
export const TOKEN_KEYS: KeyPurpose = {
  table: 'signing_keys',
  object: 'signing-key',
  overlapMs: ({ tokenTtlSeconds }) => tokenTtlSeconds * 1_000 + RETIRED_KEY_MARGIN_MS,
  overlapMsMax: DAY_MS + RETIRED_KEY_MARGIN_MS,
  signsInOverlap: false,
  keepsRevoked: false,
}
