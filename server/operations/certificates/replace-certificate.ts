// Rotation without a gap: a new certificate stands beside the old one, and endpoints follow by their own choice, or all
// at once, with a count first. One that an endpoint still names is not deleted.

import { EVERYONE, isForNone } from '../../core/certificates/certificate-clients.ts'
import { DEFAULT_CERTIFICATE } from '../../core/delivery/endpoint-tls.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import { type Db, inTransaction } from '../../store/connection/db.ts'
import {
  countCertificateUses,
  countChoices,
  deleteCertificate,
  replaceCertificate,
  type StoredCertificate,
  saveDefault,
} from '../../store/secrets/client-certificates.ts'
import { type Audit, NO_AUDIT } from '../shared/audit-trail.ts'
import type { Deps } from '../shared/deps.ts'
import { unusable } from '../shared/service-errors.ts'
import { lockOne } from './make-certificate.ts'

/** Endpoints that ask for "default" are shown this one from now on; how many. A dry run only counts them. */
export async function makeDefault(
  deps: Deps,
  id: string,
  isDryRun: boolean,
  audit: Audit = NO_AUDIT,
): Promise<number> {
  const following = await inTransaction(deps.pool, async (db) => {
    const { found, others } = await lockOne(db, id)
    assertWhole(found, '')
    if (isForNone(found.clients)) {
      throw unusable('', 'This certificate is for no one yet: say first which clients may use it.')
    }
    const former = others.find(({ isDefault }) => isDefault)
    const clients = former?.clients ?? []
    await assertForAll(db, { choice: DEFAULT_CERTIFICATE, clients }, found, '')
    const endpoints = await countChoices(db, [DEFAULT_CERTIFICATE], { of: found.clients })
    if (isDryRun) return endpoints
    await saveDefault(db, id)
    await audit(db, `client-certificate:${id}`, [
      { field: 'default', before: String(found.isDefault), after: 'true' },
    ])
    return endpoints
  })
  deps.shownCertificates.forget()
  return following
}

/** Endpoints that name the one name the other from now on; how many. A dry run only counts them. */
export async function replaceByOther(
  deps: Deps,
  { id, by, isDryRun }: { id: string; by: string; isDryRun: boolean },
  audit: Audit = NO_AUDIT,
): Promise<number> {
  return inTransaction(deps.pool, async (db) => {
    const { found, others } = await lockOne(db, id)
    const other = others.find((one) => one.id === by)
    if (other === undefined) {
      throw unusable('/by', 'Give the id of another certificate of the service.')
    }
    assertWhole(other, '/by')
    await assertForAll(db, { choice: id, clients: found.clients }, other, '/by')
    if (isDryRun) return countChoices(db, [id], { of: EVERYONE })
    const now = new Date(deps.clock.nowMs())
    const endpoints = await replaceCertificate(db, { from: found.id, to: other.id }, now)
    await audit(db, `client-certificate:${id}`, [
      { field: 'replacedBy', before: null, after: other.id },
      { field: 'endpoints', before: null, after: String(endpoints) },
    ])
    return endpoints
  })
}

export async function removeCertificate(
  deps: Deps,
  id: string,
  audit: Audit = NO_AUDIT,
): Promise<void> {
  await inTransaction(deps.pool, async (db) => {
    const { found } = await lockOne(db, id)
    const endpoints = (await countCertificateUses(db)).get(id) ?? 0
    if (endpoints > 0) {
      throw new ServiceError(
        'certificate-in-use',
        `${endpoints} endpoints are shown this certificate. Replace it by another one first.`,
      )
    }
    await deleteCertificate(db, id)
    await audit(db, `client-certificate:${id}`, [
      { field: 'name', before: found.name, after: null },
    ])
  })
  deps.shownCertificates.forget()
}

/** Endpoints that are shown one now must not be left without: the other has to be for their clients, too. */
async function assertForAll(
  db: Db,
  { choice, clients }: { choice: string; clients: StoredCertificate['clients'] },
  other: StoredCertificate,
  pointer: string,
): Promise<void> {
  const endpoints = await countChoices(db, [choice], { of: clients, notOf: other.clients })
  if (endpoints === 0) return
  throw unusable(
    pointer,
    `Endpoints that would be left without a certificate: ${endpoints}. "${other.name}" is not for their clients: let these clients use it first.`,
  )
}

function assertWhole({ chain }: StoredCertificate, pointer: string): void {
  if (chain === null) {
    throw unusable(
      pointer,
      'This certificate is not signed yet: give what the authority signed first.',
    )
  }
}
