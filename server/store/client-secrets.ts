// The client_secrets table: digests only, each under the master key that it names. Digests cannot be
// re-keyed, so a right login under an old master key writes a new one.

import type { ClientStatus } from './clients.ts'
import type { Db } from './db.ts'

export interface SecretDigest {
  id: string
  digest: Buffer
  masterKeyId: string
}

export interface Credentials {
  clientKey: number
  status: ClientStatus
  secrets: readonly SecretDigest[]
}

interface CredentialsRow {
  client_key: number
  status: ClientStatus
  id: string | null
  digest: Buffer
  master_key_id: string
}

/** What a login is checked against, in one statement whether the client exists or not. */
export async function readCredentials(db: Db, clientId: string): Promise<Credentials | null> {
  const { rows } = await db.query<CredentialsRow>({
    name: 'read-credentials',
    text: `select c.client_key, c.status, s.id, s.digest, s.master_key_id
           from clients c left join client_secrets s using (client_key)
           where c.id = $1 order by s.created_at, s.id`,
    values: [clientId],
  })
  const [first] = rows
  if (first === undefined) return null
  const secrets = rows.flatMap((row) =>
    row.id === null ? [] : [{ id: row.id, digest: row.digest, masterKeyId: row.master_key_id }],
  )
  return { clientKey: first.client_key, status: first.status, secrets }
}

export async function insertSecret(
  db: Db,
  clientKey: number,
  secret: SecretDigest,
  now: Date,
): Promise<void> {
  await db.query({
    text: `insert into client_secrets (client_key, id, digest, master_key_id, created_at)
           values ($1, $2, $3, $4, $5)`,
    values: [clientKey, secret.id, secret.digest, secret.masterKeyId, now],
  })
}

/** The client's live secrets, oldest first; of each only that it exists. */
export async function listSecrets(
  db: Db,
  clientKey: number,
): Promise<readonly { id: string; createdAt: Date }[]> {
  const { rows } = await db.query<{ id: string; created_at: Date }>({
    text: `select id, created_at from client_secrets where client_key = $1
           order by created_at, id`,
    values: [clientKey],
  })
  return rows.map((row) => ({ id: row.id, createdAt: row.created_at }))
}

export async function deleteSecret(db: Db, clientKey: number, secretId: string): Promise<void> {
  await db.query({
    text: 'delete from client_secrets where client_key = $1 and id = $2',
    values: [clientKey, secretId],
  })
}

/** The same secret under a newer master key. */
export async function replaceDigest(
  db: Db,
  clientKey: number,
  secret: SecretDigest,
): Promise<void> {
  await db.query({
    text: `update client_secrets set digest = $3, master_key_id = $4
           where client_key = $1 and id = $2`,
    values: [clientKey, secret.id, secret.digest, secret.masterKeyId],
  })
}

/** How many secrets each master key still carries: a key may go when its count is gone. */
export async function countSecretsByMasterKey(db: Db): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.query<{ master_key_id: string; count: number }>(
    'select master_key_id, count(*) as count from client_secrets group by master_key_id',
  )
  return new Map(rows.map((row) => [row.master_key_id, row.count]))
}
