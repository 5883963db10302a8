// The ends of the service's certificates, and what the operator has been told of them.

import type { Db } from '../connection/db.ts'
import { column } from '../sql/columns.ts'
import { CERTIFICATES_MAX } from './client-certificates.ts'

export interface CertificateEnd {
  id: string
  name: string
  subject: string
  fingerprint: Buffer
  notAfter: Date
  /** The smallest number of days before its end that was told; null for none. */
  toldDays: number | null
}

interface EndRow {
  id: string
  name: string
  subject: string
  fingerprint: Buffer
  not_after: Date
  expiry_told_days: number | null
}

/** Of those that were signed; the first to end comes first. */
export async function readCertificateEnds(db: Db): Promise<readonly CertificateEnd[]> {
  const { rows } = await db.query<EndRow>({
    name: 'read-certificate-ends',
    text: `select id, name, subject, fingerprint, not_after, expiry_told_days
           from client_certificates where not_after is not null
           order by not_after, id limit ${CERTIFICATES_MAX}`,
  })
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    subject: row.subject,
    fingerprint: row.fingerprint,
    notAfter: row.not_after,
    toldDays: row.expiry_told_days,
  }))
}

/** By certificate, the number of its notice. One that was renewed or deleted in this moment is left out. */
export async function saveExpiryTold(
  db: Db,
  told: readonly { id: string; notAfter: Date; days: number }[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.query<{ id: string; notices: number }>({
    text: `update client_certificates c
           set expiry_told_days = g.days, notices = c.notices + 1
           from unnest($1::uuid[], $2::timestamptz[], $3::smallint[]) as g (id, not_after, days)
           where c.id = g.id and c.not_after = g.not_after
           returning c.id, c.notices`,
    values: [
      column('uuid', told, ({ id }) => id),
      column('timestamptz', told, ({ notAfter }) => notAfter.getTime()),
      column('smallint', told, ({ days }) => days),
    ],
  })
  return new Map(rows.map(({ id, notices }) => [id, notices]))
}
