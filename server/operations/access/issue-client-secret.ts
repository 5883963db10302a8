// Another secret for a client: two may live at once, so that it can rotate without a gap. A secret
// is 256 random bits, shown once and kept only as an HMAC under a key of the service's own.

import { randomBytes } from 'node:crypto'
import { ServiceError } from '../../core/plain/errors.ts'
import { inTransaction } from '../../store/connection/db.ts'
import {
  insertSecret,
  listSecrets,
  SECRETS_MAX,
  type SecretDigest,
} from '../../store/secrets/client-secrets.ts'
import { findClient, lockClient } from '../../store/secrets/clients.ts'
import { type Audit, NO_AUDIT } from '../shared/audit-trail.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound } from '../shared/service-errors.ts'

export interface NewSecret {
  /** The prefix lets people and scanners recognise a secret that leaked. */
  text: string
  stored: SecretDigest
}

export function makeSecret(deps: Pick<Deps, 'sealer' | 'newId'>): NewSecret {
  const text = `pbs_${randomBytes(32).toString('base64url')}`
  const digest = deps.sealer.digest(text)
  return { text, stored: { id: deps.newId(), digest, masterKeyId: deps.sealer.digestKeyId } }
}

export async function issueClientSecret(
  deps: Deps,
  clientId: string,
  audit: Audit = NO_AUDIT,
): Promise<{ secretId: string; secret: string }> {
  const client = await findClient(deps.pool, clientId)
  if (client === null) throw notFound()
  const secret = makeSecret(deps)
  await inTransaction(deps.pool, async (db) => {
    await lockClient(db, client.clientKey)
    const live = await listSecrets(db, client.clientKey)
    if (live.length >= SECRETS_MAX) {
      throw new ServiceError(
        'too-many-secrets',
        `The client already has ${SECRETS_MAX} live secrets. Delete one first.`,
      )
    }
    await insertSecret(db, client.clientKey, secret.stored, new Date(deps.clock.nowMs()))
    await audit(db, `secret:${secret.stored.id}`)
  })
  return { secretId: secret.stored.id, secret: secret.text }
}
