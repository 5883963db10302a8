// A certificate of the service's own: imported with its key, or begun here, with a key that never leaves and a request
// for an authority to sign. What is signed later, or renewed for the same key, completes it. It is for the clients that the
// operator names, and for no one until then.

import type { KeyObject } from 'node:crypto'
import {
  type CertificateChain,
  type Refused,
  readChain,
  readPrivateKey,
} from '../../core/certificates/certificate-chain.ts'
import { type CertificateClients, EVERYONE } from '../../core/certificates/certificate-clients.ts'
import { makeRequestKey, writeRequest } from '../../core/certificates/certificate-request.ts'
import { readSubject } from '../../core/certificates/subject.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import { type Db, inTransaction } from '../../store/connection/db.ts'
import {
  CERTIFICATES_MAX,
  insertCertificate,
  lockCertificates,
  readCertificates,
  type StoredCertificate,
  type StoredChain,
  saveChain,
} from '../../store/secrets/client-certificates.ts'
import { type Audit, NO_AUDIT } from '../shared/audit-trail.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound, unusable } from '../shared/service-errors.ts'
import { assertNoneMoves, type NamedClients, ownersText, readOwners } from './certificate-owners.ts'
import { openPrivateKey, privateKeyField } from './private-key.ts'

export type CertificateOffer = {
  name: string
  /** For no one when it is left out. */
  clients?: NamedClients | undefined
} & ({ certificatePem: string; privateKeyPem: string } | { subject: string })

/** Its key inside, of its own or of the request. Throws for what cannot be used, with what is wrong. */
export async function makeCertificate(
  deps: Deps,
  offer: CertificateOffer,
  audit: Audit = NO_AUDIT,
): Promise<StoredCertificate> {
  const made = 'subject' in offer ? await beginCertificate(offer.subject) : importIt(deps, offer)
  const id = deps.newId()
  const key = made.privateKey.export({ type: 'pkcs8', format: 'der' })
  const { name, clients: named = [] } = offer
  const stored = {
    id,
    name,
    subject: made.subject,
    sealedPrivateKey: deps.sealer.seal(key, privateKeyField(id)),
    requestPem: made.requestPem,
    chain: made.chain,
    createdAt: new Date(deps.clock.nowMs()),
  }
  const certificate = await inTransaction(deps.pool, async (db) => {
    await lockCertificates(db)
    const others = await readCertificates(db)
    assertRoom(others, name)
    const clients = await readOwners(db, named)
    await assertNoneMoves(db, [], clients)
    const owned = { ...stored, clients }
    const certificate = { ...owned, isDefault: isFirstDefault(others, owned) }
    await insertCertificate(db, certificate)
    const changes = [
      ...changesOf(null, certificate),
      { field: 'clients', before: '', after: ownersText(named) },
    ]
    await audit(db, `client-certificate:${id}`, changes)
    return certificate
  })
  deps.shownCertificates.forget()
  return certificate
}

/** What the authority has signed for the key that is here; again, when it was renewed. */
export async function completeCertificate(
  deps: Deps,
  id: string,
  certificatePem: string,
  audit: Audit = NO_AUDIT,
): Promise<StoredCertificate> {
  const completed = await inTransaction(deps.pool, async (db) => {
    const { found, others } = await lockOne(db, id)
    const chain = orRefuse(readChain(certificatePem, deps.clock.nowMs()), '/certificatePem')
    const key = openPrivateKey(deps.sealer, found)
    if (!chain.certificates[0]?.checkPrivateKey(key)) {
      throw unusable(
        '/certificatePem',
        'This certificate is for another key: have the request of this one signed.',
      )
    }
    const certificate = { ...found, subject: chain.subject, chain: toStoredChain(chain) }
    const isDefault = found.isDefault || isFirstDefault(others, certificate)
    const completed = { ...certificate, isDefault }
    await saveChain(db, id, completed)
    await audit(db, `client-certificate:${id}`, changesOf(found, completed))
    return completed
  })
  deps.shownCertificates.forget()
  return completed
}

/** The one, and the others, while no transaction beside this one changes any. */
export async function lockOne(
  db: Db,
  id: string,
): Promise<{ found: StoredCertificate; others: readonly StoredCertificate[] }> {
  await lockCertificates(db)
  const all = await readCertificates(db)
  const found = all.find((one) => one.id === id)
  if (found === undefined) throw notFound()
  return { found, others: all.filter((one) => one !== found) }
}

interface Made {
  subject: string
  privateKey: KeyObject
  requestPem: string | null
  chain: StoredChain | null
}

async function beginCertificate(text: string): Promise<Made> {
  const subject = orRefuse(readSubject(text), '/subject')
  const privateKey = await makeRequestKey()
  const requestPem = writeRequest(subject, privateKey)
  const line = subject.map(({ name, value }) => `${name}=${value}`).join(', ')
  return { subject: line, privateKey, requestPem, chain: null }
}

function importIt(deps: Deps, offer: { certificatePem: string; privateKeyPem: string }): Made {
  const chain = orRefuse(readChain(offer.certificatePem, deps.clock.nowMs()), '/certificatePem')
  const privateKey = orRefuse(readPrivateKey(offer.privateKeyPem, chain), '/privateKeyPem')
  return { subject: chain.subject, privateKey, requestPem: null, chain: toStoredChain(chain) }
}

/** The first that can be shown for everyone is the default. Of others, which are some clients', the operator says which is. */
export function isFirstDefault(
  others: readonly StoredCertificate[],
  { chain, clients }: { chain: StoredChain | null; clients: CertificateClients },
): boolean {
  return chain !== null && clients === EVERYONE && !others.some(({ isDefault }) => isDefault)
}

export function assertNameFree(others: readonly StoredCertificate[], name: string): void {
  if (!others.some((other) => other.name === name)) return
  throw new ServiceError(
    'certificate-name-taken',
    'Another certificate has this name. Choose another, or delete that one first.',
  )
}

function assertRoom(others: readonly StoredCertificate[], name: string): void {
  assertNameFree(others, name)
  if (others.length >= CERTIFICATES_MAX) {
    throw new ServiceError(
      'too-many-certificates',
      `There are ${CERTIFICATES_MAX} certificates already. Delete one that no endpoint uses.`,
    )
  }
}

function toStoredChain(chain: CertificateChain): StoredChain {
  return {
    pem: chain.pem,
    fingerprint: Buffer.from(chain.fingerprintSha256, 'hex'),
    notBefore: chain.notBefore,
    notAfter: chain.notAfter,
  }
}

function changesOf(before: StoredCertificate | null, after: StoredCertificate) {
  const print = (one: StoredCertificate | null) => one?.chain?.fingerprint.toString('hex') ?? null
  return [
    { field: 'name', before: before?.name ?? null, after: after.name },
    { field: 'subject', before: before?.subject ?? null, after: after.subject },
    { field: 'fingerprintSha256', before: print(before), after: print(after) },
    {
      field: 'default',
      before: String(before?.isDefault ?? false),
      after: String(after.isDefault),
    },
  ]
}

function orRefuse<T extends object>(read: T | Refused, pointer: string): T {
  if ('refused' in read) throw unusable(pointer, read.refused)
  return read
}
