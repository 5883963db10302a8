// One more key for the operator's side: 256 random bits, shown once and kept only as an HMAC under the
// master key. A name belongs to one live key, because the audit names actors by it.

import { randomBytes } from 'node:crypto'
import { ServiceError } from '../../core/plain/errors.ts'
import { FIRST_OPERATOR, type Role } from '../../core/plain/operator.ts'
import { inTransaction } from '../../store/connection/db.ts'
import {
  insertKey,
  LIVE_KEYS_MAX,
  lockKeys,
  readLiveKeys,
} from '../../store/secrets/operator-keys.ts'
import { type Audit, NO_AUDIT } from '../shared/audit-trail.ts'
import type { Deps } from '../shared/deps.ts'
import { KEY_PREFIX } from './live-operator-keys.ts'

export interface NewOperatorKey {
  id: string
  name: string
  role: Role
  /** Shown now and never again. */
  key: string
}

export async function createOperatorKey(
  deps: Deps,
  { name, role }: { name: string; role: Role },
  audit: Audit = NO_AUDIT,
): Promise<NewOperatorKey> {
  const key = `${KEY_PREFIX}${randomBytes(32).toString('base64url')}`
  const id = deps.newId()
  const masterKeyId = deps.sealer.digestKeyId
  const digest = deps.sealer.digest(key, masterKeyId, 'operator-key')
  // The audit must not name a key as it names a person who signed in with the company.
  if (name === FIRST_OPERATOR.actor || name.trim().toLowerCase().startsWith('oidc:'))
    throw nameTaken()
  await inTransaction(deps.pool, async (db) => {
    await lockKeys(db)
    const live = await readLiveKeys(db)
    if (live.some((other) => other.name === name)) throw nameTaken()
    if (live.length >= LIVE_KEYS_MAX) {
      throw new ServiceError(
        'too-many-keys',
        `There are ${LIVE_KEYS_MAX} live keys already. Revoke one that is no longer used.`,
      )
    }
    await insertKey(db, { id, name, role, digest, masterKeyId }, new Date(deps.clock.nowMs()))
    await audit(db, `key:${id}`, [
      { field: 'name', before: null, after: name },
      { field: 'role', before: null, after: role },
    ])
  })
  return { id, name, role, key }
}

function nameTaken(): ServiceError {
  return new ServiceError(
    'key-name-taken',
    'A live key has this name. Choose another, or revoke that key first.',
  )
}
