// The client_certificates table: what the service shows to receivers that ask who calls. Private keys come and go
// sealed. There are few of them, so all are read at once.

import { type CertificateClients, EVERYONE } from '../../core/certificates/certificate-clients.ts'
import type { Db } from '../connection/db.ts'
import { LOCKS, shareLock, takeLock } from '../connection/locks.ts'
import { column } from '../sql/columns.ts'

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
  clients: CertificateClients
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
  is_for_everyone: boolean
  client_keys: number[]
  created_at: Date
}

/** Until the transaction ends, no other one adds or changes a certificate, and none lets an endpoint name one. */
export async function lockCertificates(db: Db): Promise<void> {
  await takeLock(db, LOCKS.clientCertificates)
}

/**
 * Until the transaction ends, the certificates stay as they are, and whose they are. Before any row of an endpoint is
 * locked: those who hold the lock alone change endpoints.
 */
export async function holdCertificates(db: Db): Promise<void> {
  await shareLock(db, LOCKS.clientCertificates)
}

/** The oldest first. */
export async function readCertificates(db: Db): Promise<readonly StoredCertificate[]> {
  const { rows } = await db.query<CertificateRow>({
    name: 'read-client-certificates',
    text: `select id, name, subject, private_key, request_pem, chain_pem, fingerprint, not_before,
             not_after, is_default, is_for_everyone, client_keys, created_at
           from client_certificates order by created_at, id limit ${CERTIFICATES_MAX}`,
  })
  return rows.map(toStored)
}

/** By certificate, how many endpoints are shown it: those of its clients that name it or, of the default, mean it. */
export async function countCertificateUses(db: Db): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.query<{ id: string; count: number }>({
    text: `select c.id, count(*) as count from client_certificates c
           join endpoints e on e.client_certificate
             = any(array[c.id::text, case when c.is_default then 'default' end])
           where e.client_certificate is not null and e.deleted_at is null
             and (c.is_for_everyone or e.client_key = any(c.client_keys))
           group by c.id`,
  })
  return new Map(rows.map((row) => [row.id, row.count]))
}

/** Endpoints of these clients that ask for one of `choices`, and are not of those others. */
export async function countChoices(
  db: Db,
  choices: readonly string[],
  { of, notOf = [] }: { of: CertificateClients; notOf?: CertificateClients },
): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    text: `select count(*) as count from endpoints
           where client_certificate = any($1::text[]) and deleted_at is null
             and ($2 or client_key = any($3::int[])) and not ($4 or client_key = any($5::int[]))`,
    values: [choices, ...clientValues(of), ...clientValues(notOf)],
  })
  return rows[0]?.count ?? 0
}

export async function insertCertificate(db: Db, certificate: StoredCertificate): Promise<void> {
  const { chain } = certificate
  await db.query({
    text: `insert into client_certificates (id, name, subject, private_key, request_pem, chain_pem,
             fingerprint, not_before, not_after, is_default, is_for_everyone, client_keys, created_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
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
      ...clientValues(certificate.clients),
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

/** What the operator calls it, and whose it is. */
export async function saveCertificate(
  db: Db,
  id: string,
  { name, clients, isDefault }: Pick<StoredCertificate, 'name' | 'clients' | 'isDefault'>,
): Promise<void> {
  await db.query({
    text: `update client_certificates set name = $2, is_default = $3, is_for_everyone = $4,
             client_keys = $5 where id = $1`,
    values: [id, name, isDefault, ...clientValues(clients)],
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
    clients: row.is_for_everyone ? EVERYONE : row.client_keys,
    createdAt: row.created_at,
  }
}

/** In the order of the columns. */
function clientValues(clients: CertificateClients): unknown[] {
  const keys = clients === EVERYONE ? [] : clients
  return [clients === EVERYONE, column('int', keys, (key) => key)]
}
