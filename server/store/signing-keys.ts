// The signing_keys table: the keys that sign and verify access tokens, shared by all processes. The
// newest key without an end signs; a retired one verifies until its end. Private parts are sealed.

import type { Db } from './db.ts'
import { LOCKS, takeLock } from './locks.ts'

export interface StoredSigningKey {
  kid: string
  publicJwk: Readonly<Record<string, unknown>>
  sealedPrivateKey: Buffer
  /** Null while it signs. */
  verifiesUntil: Date | null
}

interface SigningKeyRow {
  kid: string
  public_jwk: Record<string, unknown>
  private_key: Buffer
  verifies_until: Date | null
}

/** Until the transaction ends, no other one makes or retires a key. */
export async function lockSigningKeys(db: Db): Promise<void> {
  await takeLock(db, LOCKS.signingKeys)
}

/** Those that still verify, the newest first. */
export async function readSigningKeys(db: Db, now: Date): Promise<readonly StoredSigningKey[]> {
  const { rows } = await db.query<SigningKeyRow>({
    name: 'read-signing-keys',
    text: `select kid, public_jwk, private_key, verifies_until from signing_keys
           where verifies_until is null or verifies_until > $1
           order by created_at desc, kid desc`,
    values: [now],
  })
  return rows.map((row) => ({
    kid: row.kid,
    publicJwk: row.public_jwk,
    sealedPrivateKey: row.private_key,
    verifiesUntil: row.verifies_until,
  }))
}

export async function insertSigningKey(
  db: Db,
  key: Omit<StoredSigningKey, 'verifiesUntil'>,
  now: Date,
): Promise<void> {
  await db.query({
    text: `insert into signing_keys (kid, public_jwk, private_key, created_at)
           values ($1, $2, $3, $4)`,
    values: [key.kid, JSON.stringify(key.publicJwk), key.sealedPrivateKey, now],
  })
}

/** All that still sign stop doing so; their tokens in flight stay good until `until`. */
export async function retireSigningKeys(db: Db, until: Date): Promise<void> {
  await db.query('update signing_keys set verifies_until = $1 where verifies_until is null', [
    until,
  ])
}

/** True when the key that signs was made before the given instant. */
export async function isSigningKeyOlder(db: Db, before: Date): Promise<boolean> {
  const { rows } = await db.query<{ is_older: boolean | null }>(
    'select max(created_at) < $1 as is_older from signing_keys where verifies_until is null',
    [before],
  )
  return rows[0]?.is_older === true
}
