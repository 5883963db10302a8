// Whose a certificate is, and what the operator calls it. It is not taken from a client whose endpoints are shown it: their
// receivers would refuse what comes without it.

import type { CertificateClients } from '../../core/certificates/certificate-clients.ts'
import { DEFAULT_CERTIFICATE } from '../../core/delivery/endpoint-tls.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import { type Db, inTransaction } from '../../store/connection/db.ts'
import {
  countChoices,
  type StoredCertificate,
  saveCertificate,
} from '../../store/secrets/client-certificates.ts'
import { type Audit, NO_AUDIT } from '../shared/audit-trail.ts'
import type { Deps } from '../shared/deps.ts'
import {
  assertNoneMoves,
  type NamedClients,
  nameOwners,
  ownersText,
  readOwners,
} from './certificate-owners.ts'
import { assertNameFree, isFirstDefault, lockOne } from './make-certificate.ts'

export interface CertificateChange {
  /** Undefined: as it is. */
  name?: string | undefined
  clients?: NamedClients | undefined
}

export async function changeCertificate(
  deps: Deps,
  id: string,
  change: CertificateChange,
  audit: Audit = NO_AUDIT,
): Promise<void> {
  await inTransaction(deps.pool, async (db) => {
    const { found, others } = await lockOne(db, id)
    const clients = change.clients ? await readOwners(db, change.clients) : found.clients
    const changed = { ...found, name: change.name ?? found.name, clients }
    assertNameFree(others, changed.name)
    await assertNoneMoves(db, found.clients, clients)
    await assertUnused(db, found, clients)
    const isDefault = found.isDefault || isFirstDefault(others, changed)
    await saveCertificate(db, id, { ...changed, isDefault })
    const nameOf = await nameOwners(db, [found.clients, clients])
    await audit(db, `client-certificate:${id}`, [
      { field: 'name', before: found.name, after: changed.name },
      {
        field: 'clients',
        before: ownersText(nameOf(found.clients)),
        after: ownersText(nameOf(clients)),
      },
      { field: 'default', before: String(found.isDefault), after: String(isDefault) },
    ])
  })
  deps.shownCertificates.forget()
}

/** By those that it is taken from. */
async function assertUnused(
  db: Db,
  { id, isDefault, clients }: StoredCertificate,
  staysFor: CertificateClients,
): Promise<void> {
  const choices = isDefault ? [id, DEFAULT_CERTIFICATE] : [id]
  const endpoints = await countChoices(db, choices, { of: clients, notOf: staysFor })
  if (endpoints === 0) return
  throw new ServiceError(
    'certificate-in-use',
    `Endpoints of clients that it would be taken from are shown this certificate: ${endpoints}. Let them name another one first.`,
  )
}
