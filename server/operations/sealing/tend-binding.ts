// Binds what is sealed for endpoints to their addresses by itself, in a database that an earlier version has begun: once that
// version is gone for good. Any process may do it, and several at once: each row is replaced only where it is unchanged.

import { DAY_MS } from '../../core/delivery/backoff.ts'
import { LEASE_POLICY } from '../../core/delivery/lease.ts'
import { noteLoneVersion } from '../../store/secrets/sealing-form.ts'
import type { Deps } from '../shared/deps.ts'
import { finishBinding, startBinding } from './bind-addresses.ts'
import { resealAllEndpoints } from './reseal-secrets.ts'

/** Then nobody goes back to it any more. */
const LONE_MS = DAY_MS
/** Upkeep looks once an hour. */
const LOOKS_GAP_MS = 3 * 3_600_000

/** Returns how many endpoints were resealed. */
export async function tendBinding(
  deps: Pick<Deps, 'pool' | 'sealer'>,
  version: string,
): Promise<number> {
  const { pool, sealer } = deps
  if (sealer.binding === 'none') {
    const { processGoneAfterMs } = LEASE_POLICY
    const times = { ms: LONE_MS, gapMs: LOOKS_GAP_MS }
    if (!(await noteLoneVersion(pool, version, processGoneAfterMs, times))) return 0
    await startBinding(deps, version)
  }
  if (sealer.binding !== 'begun' || (await finishBinding(deps))) return 0
  const { resealed } = await resealAllEndpoints(deps)
  await finishBinding(deps)
  return resealed
}
