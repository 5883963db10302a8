// The public keys with which a client proves who it is (RFC 7523): at most five, added and deleted by the operator. A row
// counts only if the service has authenticated it with the master key: whoever writes to the database could otherwise put
// a key of their own there, and be that client.

import { calculateJwkThumbprint, importJWK, type JWK } from 'jose'
import { ServiceError } from '../../core/plain/errors.ts'
import { type ClientJwk, parseClientJwk } from '../../core/proofs/client-jwk.ts'
import { inTransaction } from '../../store/connection/db.ts'
import {
  CLIENT_KEYS_MAX,
  deleteClientKey,
  insertClientKey,
  listClientKeys,
} from '../../store/secrets/client-keys.ts'
import { findClient, lockClient } from '../../store/secrets/clients.ts'
import { authenticateClientKey } from '../access/trusted-keys.ts'
import { type Audit, NO_AUDIT } from '../shared/audit-trail.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound } from '../shared/service-errors.ts'

export interface ClientKey {
  kid: string
  jwk: Readonly<Record<string, unknown>>
  createdAt: Date
}

export async function addClientKey(
  deps: Deps,
  clientId: string,
  given: Readonly<Record<string, unknown>>,
  audit: Audit = NO_AUDIT,
): Promise<ClientKey> {
  const { kid, jwk } = await readKey(given)
  const createdAt = new Date(deps.clock.nowMs())
  const client = await findClient(deps.pool, clientId)
  if (client === null) throw notFound()
  await inTransaction(deps.pool, async (db) => {
    await lockClient(db, client.clientKey)
    const stored = await listClientKeys(db, client.clientKey)
    if (stored.some((key) => key.kid === kid)) {
      throw new ServiceError('client-key-taken', 'The client has a key with this kid already.')
    }
    if (stored.length >= CLIENT_KEYS_MAX) {
      throw new ServiceError(
        'too-many-client-keys',
        `The client already has ${CLIENT_KEYS_MAX} keys. Delete one first.`,
      )
    }
    const key = { kid, publicJwk: jwk, createdAt }
    const authentication = authenticateClientKey(deps.sealer, client.id, key)
    await insertClientKey(db, client.clientKey, { ...key, authentication })
    await audit(db, `client:${client.id}`, [{ field: 'key', before: null, after: kid }])
  })
  return { kid, jwk, createdAt }
}

export async function viewClientKeys(deps: Deps, clientId: string): Promise<readonly ClientKey[]> {
  const client = await findClient(deps.pool, clientId)
  if (client === null) throw notFound()
  const stored = await listClientKeys(deps.pool, client.clientKey)
  return stored.map(({ kid, publicJwk, createdAt }) => ({ kid, jwk: publicJwk, createdAt }))
}

/** It gets no token any more. Tokens that it got before stay good until they expire. */
export async function removeClientKey(
  deps: Deps,
  clientId: string,
  kid: string,
  audit: Audit = NO_AUDIT,
): Promise<void> {
  const client = await findClient(deps.pool, clientId)
  if (client === null) throw notFound()
  await inTransaction(deps.pool, async (db) => {
    if (!(await deleteClientKey(db, client.clientKey, kid))) throw notFound()
    await audit(db, `client:${client.id}`, [{ field: 'key', before: kid, after: null }])
  })
}

/** Without what its owner did not give: the thumbprint names it then (RFC 7638). */
async function readKey(given: Readonly<Record<string, unknown>>) {
  const parsed = parseClientJwk(given)
  if (!('kty' in parsed)) {
    throw new ServiceError('invalid-fields', 'The key is invalid.', { errors: parsed })
  }
  const { kid, ...jwk } = parsed satisfies ClientJwk
  try {
    await importJWK(jwk as JWK, jwk.alg)
  } catch {
    const detail = 'Must be a point of its curve, or a modulus with its exponent.'
    const errors = [{ pointer: '/jwk', code: 'invalid-key', detail }]
    throw new ServiceError('invalid-fields', 'The key is invalid.', { errors })
  }
  return { kid: kid ?? (await calculateJwkThumbprint(jwk as JWK)), jwk }
}
