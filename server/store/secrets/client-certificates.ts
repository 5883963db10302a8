// The client_certificates table: what the service shows to receivers that ask who calls. Private keys come and go
// sealed. There are few of them, so all are read at once.

import type { Db } from '../connection/db.ts'
import { LOCKS, takeLock } from '../connection/locks.ts'

export const CERTIFICATES_MAX = 50

export interface StoredChain {
  pem: string
  fingerprint: Buffer
  notBefore: Date
  notAfter: Date
}

export interface StoredCertificate {
  id: string
  name: string
  subject: string
  sealedPrivateKey: Buffer
  /** Null when the key was imported. */
  requestPem: string | null
  /** Null until the request was signed. */
  chain: StoredChain | null
  isDefault: boolean
  createdAt: Date
}

interface CertificateRow {
  id: string
  name: string
  subject: string
  private_key: Buffer
  request_pem: string | null
  chain_pem: string | null
  fingerprint: Buffer | null
  not_before: Date | null
  not_after: Date | null
  is_default: boolean
  created_at: Date
}

/** Until the transaction ends, no other one adds a certificate, replaces one or makes one the default. */
export async function lockCertificates(db: Db): Promise<void> {
  await takeLock(db, LOCKS.clientCertificates)
}

/** The oldest first. */
export async function readCertificates(db: Db): Promise<readonly StoredCertificate[]> {
  const { rows } = await db.query<CertificateRow>({
    name: 'read-client-certificates',
    text: `select id, name, subject, private_key, request_pem, chain_pem, fingerprint, not_before,
             not_after, is_default, created_at
           from client_certificates order by created_at, id limit ${CERTIFICATES_MAX}`,
  })
  return rows.map(toStored)
}

/** By certificate, how many endpoints name it; `default` for those that mean whichever is. */
export async function countCertificateUses(db: Db): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.query<{ client_certificate: string; count: number }>({
    text: `select client_certificate, count(*) as count from endpoints
           where client_certificate is not null and deleted_at is null
           group by client_certificate`,
  })
  return new Map(rows.map((row) => [row.client_certificate, row.count]))
}

/** Endpoints that are shown it. */
export function usesOf(
  uses: ReadonlyMap<string, number>,
  { id, isDefault }: Pick<StoredCertificate, 'id' | 'isDefault'>,
): number {
  return (uses.get(id) ?? 0) + (isDefault ? (uses.get('default') ?? 0) : 0)
}

export async function insertCertificate(db: Db, certificate: StoredCertificate): Promise<void> {
  const { chain } = certificate
  await db.query({
    text: `insert into client_certificates (id, name, subject, private_key, request_pem, chain_pem,
             fingerprint, not_before, not_after, is_default, created_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    values: [
      certificate.id,
      certificate.name,
      certificate.subject,
      certificate.sealedPrivateKey,
      certificate.requestPem,
      chain?.pem ?? null,
      chain?.fingerprint ?? null,
      chain?.notBefore ?? null,
      chain?.notAfter ?? null,
      certificate.isDefault,
      certificate.createdAt,
    ],
  })
}

/** What was signed for the key that is there. With another end, the operator is told of that anew. */
export async function saveChain(
  db: Db,
  id: string,
  { subject, chain, isDefault }: { subject: string; chain: StoredChain; isDefault: boolean },
): Promise<void> {
  await db.query({
    text: `update client_certificates set subject = $2, chain_pem = $3, fingerprint = $4,
             not_before = $5, not_after = $6, is_default = $7,
             expiry_told_days = case when not_after = $6 then expiry_told_days end
           where id = $1`,
    values: [id, subject, chain.pem, chain.fingerprint, chain.notBefore, chain.notAfter, isDefault],
  })
}

export async function saveDefault(db: Db, id: string): Promise<void> {
  // One after the other: the index allows one default at any moment.
  await db.query('update client_certificates set is_default = false where is_default')
  await db.query('update client_certificates set is_default = true where id = $1', [id])
}

/** Endpoints that name the one from now on name the other; how many. Engines hear of it as of any change. */
export async function replaceCertificate(
  db: Db,
  { from, to }: { from: string; to: string },
  now: Date,
): Promise<number> {
  const { rowCount } = await db.query({
    text: `update endpoints set client_certificate = $2, changed_at = $3
           where client_certificate = $1 and deleted_at is null`,
    values: [from, to, now],
  })
  return rowCount ?? 0
}

export async function deleteCertificate(db: Db, id: string): Promise<void> {
  await db.query('delete from client_certificates where id = $1', [id])
}

function toStored(row: CertificateRow): StoredCertificate {
  const { chain_pem: pem, fingerprint, not_before: notBefore, not_after: notAfter } = row
  // The table has all four or none (certificate_is_whole).
  const isWhole = pem !== null && fingerprint !== null && notBefore !== null && notAfter !== null
  return {
    id: row.id,
    name: row.name,
    subject: row.subject,
    sealedPrivateKey: row.private_key,
    requestPem: row.request_pem,
    chain: isWhole ? { pem, fingerprint, notBefore, notAfter } : null,
    isDefault: row.is_default,
    createdAt: row.created_at,
  }
}
