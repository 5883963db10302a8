// The two tables of key pairs that all processes share: signing_keys sign and verify access tokens, webhook_keys
// callbacks and statements. The newest key without an end signs; a retired one verifies until its end. Private
// parts are sealed.

import type { Db } from './db.ts'
import { LOCKS, takeLock } from './locks.ts'

export type KeyTable = 'signing_keys' | 'webhook_keys'

export interface StoredSigningKey {
  kid: string
  publicJwk: Readonly<Record<string, unknown>>
  /** Null once it was forgotten, which happens only after its end. */
  sealedPrivateKey: Buffer | null
  createdAt: Date
  /** Null while it is the one that signs. */
  verifiesUntil: Date | null
}

export interface NewSigningKey {
  kid: string
  publicJwk: Readonly<Record<string, unknown>>
  sealedPrivateKey: Buffer
}

interface SigningKeyRow {
  kid: string
  public_jwk: Record<string, unknown>
  private_key: Buffer | null
  created_at: Date
  verifies_until: Date | null
}

/** Until the transaction ends, no other one makes or retires a key. */
export async function lockSigningKeys(db: Db): Promise<void> {
  await takeLock(db, LOCKS.signingKeys)
}

/** Those that still verify, the newest first. */
export async function readSigningKeys(
  db: Db,
  table: KeyTable,
  now: Date,
): Promise<readonly StoredSigningKey[]> {
  const { rows } = await db.query<SigningKeyRow>({
    name: `read-${table}`,
    text: `select kid, public_jwk, private_key, created_at, verifies_until from ${table}
           where verifies_until is null or verifies_until > $1
           order by created_at desc, kid desc`,
    values: [now],
  })
  return rows.map((row) => ({
    kid: row.kid,
    publicJwk: row.public_jwk,
    sealedPrivateKey: row.private_key,
    createdAt: row.created_at,
    verifiesUntil: row.verifies_until,
  }))
}

export async function insertSigningKey(
  db: Db,
  table: KeyTable,
  key: NewSigningKey,
  now: Date,
): Promise<void> {
  await db.query({
    text: `insert into ${table} (kid, public_jwk, private_key, created_at)
           values ($1, $2, $3, $4)`,
    values: [key.kid, JSON.stringify(key.publicJwk), key.sealedPrivateKey, now],
  })
}

/** All that still sign get an end; what they have signed stays good until then. */
export async function retireSigningKeys(db: Db, table: KeyTable, until: Date): Promise<void> {
  await db.query(`update ${table} set verifies_until = $1 where verifies_until is null`, [until])
}

/** True when the key that signs was made before the given instant. */
export async function isSigningKeyOlder(db: Db, table: KeyTable, before: Date): Promise<boolean> {
  const { rows } = await db.query<{ is_older: boolean | null }>(
    `select max(created_at) < $1 as is_older from ${table} where verifies_until is null`,
    [before],
  )
  return rows[0]?.is_older === true
}
