// Binds what is sealed for endpoints to their addresses by itself, in a database that an earlier version has begun: once that
// version is gone for good. Any process may do it, and several at once: each row is replaced only where it is unchanged.

import { LEASE_POLICY } from '../../core/delivery/lease.ts'
import { isLongAlone, noteLone } from '../../core/proofs/sealing-mark.ts'
import type { Db } from '../../store/connection/db.ts'
import {
  readLoneVersion,
  readOtherVersions,
  saveLoneVersion,
} from '../../store/secrets/sealing-form.ts'
import type { Deps } from '../shared/deps.ts'
import { finishBinding, startBinding } from './bind-addresses.ts'
import { resealAllEndpoints } from './reseal-secrets.ts'

/** Returns how many endpoints were resealed. */
export async function tendBinding(
  deps: Pick<Deps, 'pool' | 'sealer'>,
  version: string,
  now: Date,
): Promise<number> {
  const { pool, sealer } = deps
  if (sealer.binding === 'none') {
    if (!(await isAlone(pool, version, now))) return 0
    await startBinding(deps, version)
  }
  if (sealer.binding !== 'begun' || (await finishBinding(deps))) return 0
  const { resealed } = await resealAllEndpoints(deps)
  await finishBinding(deps)
  return resealed
}

async function isAlone(db: Db, version: string, now: Date): Promise<boolean> {
  const others = await readOtherVersions(db, version, LEASE_POLICY.processGoneAfterMs)
  const lone = others.length > 0 ? null : noteLone(await readLoneVersion(db), version, now)
  await saveLoneVersion(db, lone)
  return lone !== null && isLongAlone(lone, now)
}
