// A certificate of the service's own: imported with its key, or begun here, with a key that never leaves and a request
// for an authority to sign. What is signed later, or renewed for the same key, completes it.

import type { KeyObject } from 'node:crypto'
import {
  type CertificateChain,
  type Refused,
  readChain,
  readPrivateKey,
} from '../../core/certificates/certificate-chain.ts'
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
import { openPrivateKey, privateKeyField } from './private-key.ts'

export type CertificateOffer =
  | { name: string; certificatePem: string; privateKeyPem: string }
  | { name: string; subject: string }

/** Its key inside, of its own or of the request. Throws for what cannot be used, with what is wrong. */
export async function makeCertificate(
  deps: Deps,
  offer: CertificateOffer,
  audit: Audit = NO_AUDIT,
): Promise<StoredCertificate> {
  const made = 'subject' in offer ? await beginCertificate(offer.subject) : importIt(deps, offer)
  const id = deps.newId()
  const key = made.privateKey.export({ type: 'pkcs8', format: 'der' })
  const stored: StoredCertificate = {
    id,
    name: offer.name,
    subject: made.subject,
    sealedPrivateKey: deps.sealer.seal(key, privateKeyField(id)),
    requestPem: made.requestPem,
    chain: made.chain,
    isDefault: false,
    createdAt: new Date(deps.clock.nowMs()),
  }
  return inTransaction(deps.pool, async (db) => {
    await lockCertificates(db)
    const others = await readCertificates(db)
    assertRoom(others, offer.name)
    const certificate = { ...stored, isDefault: isFirst(others, stored) }
    await insertCertificate(db, certificate)
    await audit(db, `client-certificate:${id}`, changesOf(null, certificate))
    return certificate
  })
}

/** What the authority has signed for the key that is here; again, when it was renewed. */
export async function completeCertificate(
  deps: Deps,
  id: string,
  certificatePem: string,
  audit: Audit = NO_AUDIT,
): Promise<StoredCertificate> {
  return inTransaction(deps.pool, async (db) => {
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
    const completed = { ...certificate, isDefault: found.isDefault || isFirst(others, certificate) }
    await saveChain(db, id, completed)
    await audit(db, `client-certificate:${id}`, changesOf(found, completed))
    return completed
  })
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

/** The first that can be shown is the default, so that "default" means something. */
function isFirst(others: readonly StoredCertificate[], one: StoredCertificate): boolean {
  return one.chain !== null && !others.some(({ isDefault }) => isDefault)
}

function assertRoom(others: readonly StoredCertificate[], name: string): void {
  if (others.some((other) => other.name === name)) {
    throw new ServiceError(
      'certificate-name-taken',
      'Another certificate has this name. Choose another, or delete that one first.',
    )
  }
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
