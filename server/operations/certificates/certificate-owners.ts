// The clients that a certificate is given to: by their ids as the operator names and sees them, by their keys as they are kept.
// Several certificates are translated in one question.

import {
  CERTIFICATE_CLIENTS_MAX,
  type CertificateClients,
  EVERYONE,
} from '../../core/certificates/certificate-clients.ts'
import { hasLeft } from '../../core/network/client-move.ts'
import { type FieldError, ServiceError } from '../../core/plain/errors.ts'
import { countInvalid } from '../../core/plain/invalid-count.ts'
import type { Db } from '../../store/connection/db.ts'
import { readClientMoves } from '../../store/moves/client-moves.ts'
import { findClientKeys, readClientIds } from '../../store/secrets/clients.ts'
import { movingError } from '../access/move-checks.ts'

/** By their ids, in any case. */
export type NamedClients = typeof EVERYONE | readonly string[]

/** Throws for those that are no clients of this cell, all of them at once. */
export async function readOwners(db: Db, named: NamedClients): Promise<CertificateClients> {
  if (named === EVERYONE) return EVERYONE
  const ids = [...new Set(named.map((id) => id.toLowerCase()))]
  if (ids.length > CERTIFICATE_CLIENTS_MAX) throw new Error('more clients than a list may have')
  if (ids.length === 0) return []
  const keys = await findClientKeys(db, ids)
  const errors = named.flatMap((id, at): FieldError[] =>
    keys.has(id.toLowerCase())
      ? []
      : [
          {
            pointer: `/clients/${at}`,
            code: 'unusable',
            detail: 'There is no client with this id.',
          },
        ],
  )
  if (errors.length > 0) {
    const detail = countInvalid(errors.length, 'field', ' of the body')
    throw new ServiceError('invalid-fields', detail, { errors })
  }
  return [...keys.values()].toSorted((one, other) => one - other)
}

/** What a move has copied already would be forgotten where the client arrives. */
export async function assertNoneMoves(
  db: Db,
  before: CertificateClients,
  after: CertificateClients,
): Promise<void> {
  const moving = (await readClientMoves(db)).filter(({ state }) => !hasLeft(state))
  const has = (clients: CertificateClients, key: number) =>
    clients !== EVERYONE && clients.includes(key)
  if (moving.some(({ clientKey: key }) => has(before, key) !== has(after, key))) throw movingError()
}

/** By their ids. */
export async function nameOwners(
  db: Db,
  all: readonly CertificateClients[],
): Promise<(clients: CertificateClients) => NamedClients> {
  const keys = new Set(all.flatMap((clients) => (clients === EVERYONE ? [] : clients)))
  const ids = keys.size === 0 ? new Map<number, string>() : await readClientIds(db, [...keys])
  return (clients) =>
    clients === EVERYONE ? EVERYONE : clients.flatMap((key) => ids.get(key) ?? []).toSorted()
}

/** For the trail. */
export function ownersText(named: NamedClients): string {
  return named === EVERYONE ? EVERYONE : named.join(', ')
}
