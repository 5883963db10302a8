// The two tables of key pairs that all processes share: signing_keys sign and verify access tokens, webhook_keys
// callbacks and statements. The newest key without an end signs; a retired one verifies until its end. Private
// parts are sealed. Which rows are to be trusted is not known here: operations/access/trusted-keys judges them.

import type { Db } from '../connection/db.ts'
import { LOCKS, takeLock } from '../connection/locks.ts'
import { column } from '../sql/columns.ts'

export type KeyTable = 'signing_keys' | 'webhook_keys'

export interface NewSigningKey {
  kid: string
  publicJwk: Readonly<Record<string, unknown>>
  sealedPrivateKey: Buffer
  createdAt: Date
  authentication: Buffer
}

export interface StoredSigningKey {
  kid: string
  publicJwk: Readonly<Record<string, unknown>>
  /** Null once it was forgotten, which happens only after its end. */
  sealedPrivateKey: Buffer | null
  createdAt: Date
  /** Null while it is the one that signs. */
  verifiesUntil: Date | null
  /** Null in rows that the version before has made. */
  authentication: Buffer | null
}

interface SigningKeyRow {
  kid: string
  public_jwk: Record<string, unknown>
  private_key: Buffer | null
  created_at: Date
  verifies_until: Date | null
  authentication: Buffer | null
}

/** Two and a half centuries of keys that are replaced by themselves. */
const KEYS_MAX = 1_000

/** Until the transaction ends, no other one makes or retires a key. */
export async function lockSigningKeys(db: Db): Promise<void> {
  await takeLock(db, LOCKS.signingKeys)
}

/** All there ever were, the newest first. */
export async function readSigningKeys(
  db: Db,
  table: KeyTable,
): Promise<readonly StoredSigningKey[]> {
  const { rows } = await db.query<SigningKeyRow>({
    name: `read-${table}`,
    text: `select kid, public_jwk, private_key, created_at, verifies_until, authentication
           from ${table} order by created_at desc, kid desc limit ${KEYS_MAX}`,
  })
  return rows.map((row) => ({
    kid: row.kid,
    publicJwk: row.public_jwk,
    sealedPrivateKey: row.private_key,
    createdAt: row.created_at,
    verifiesUntil: row.verifies_until,
    authentication: row.authentication,
  }))
}

export async function insertSigningKey(db: Db, table: KeyTable, key: NewSigningKey): Promise<void> {
  await db.query({
    text: `insert into ${table} (kid, public_jwk, private_key, created_at, authentication)
           values ($1, $2, $3, $4, $5)`,
    values: [
      key.kid,
      JSON.stringify(key.publicJwk),
      key.sealedPrivateKey,
      key.createdAt,
      key.authentication,
    ],
  })
}

/** All that still sign get an end; what they have signed stays good until then. */
export async function retireSigningKeys(db: Db, table: KeyTable, until: Date): Promise<void> {
  await db.query(`update ${table} set verifies_until = $1 where verifies_until is null`, [until])
}

/** False when there is none of this id. */
export async function deleteSigningKey(db: Db, table: KeyTable, kid: string): Promise<boolean> {
  const { rowCount } = await db.query(`delete from ${table} where kid = $1`, [kid])
  return rowCount === 1
}

export interface RevokedKey {
  kid: string
  revokedAt: Date
}

/** A person revokes each of them. */
const REVOKED_SHOWN_MAX = 100

/** Ids alone: what is left of a key that was deleted proves nothing, but says why. */
export async function saveRevokedWebhookKey(db: Db, { kid, revokedAt }: RevokedKey): Promise<void> {
  await db.query(
    `insert into revoked_webhook_keys (kid, revoked_at) values ($1, $2)
     on conflict (kid) do nothing`,
    [kid, revokedAt],
  )
}

/** The newest first. */
export async function readRevokedWebhookKeys(db: Db): Promise<readonly RevokedKey[]> {
  const { rows } = await db.query<{ kid: string; revoked_at: Date }>({
    name: 'read-revoked-webhook-keys',
    text: `select kid, revoked_at from revoked_webhook_keys
           order by revoked_at desc, kid desc limit ${REVOKED_SHOWN_MAX}`,
  })
  return rows.map(({ kid, revoked_at: revokedAt }) => ({ kid, revokedAt }))
}

/** `keys` come with what they were; returns how many were replaced. */
export async function replaceAuthentications(
  db: Db,
  table: KeyTable,
  keys: readonly { before: StoredSigningKey; after: Buffer }[],
): Promise<number> {
  if (keys.length === 0) return 0
  const { rowCount } = await db.query({
    text: `update ${table} k set authentication = g.authentication
           from unnest($1::text[], $2::bytea[], $3::bytea[])
             as g (kid, authentication, old_authentication)
           where k.kid = g.kid and k.authentication is not distinct from g.old_authentication`,
    values: [
      column('text', keys, ({ before }) => before.kid),
      column('bytea', keys, ({ after }) => after),
      column('bytea', keys, ({ before }) => before.authentication),
    ],
  })
  return rowCount ?? 0
}

/**
 * Webhook keys whose end has come can sign nothing any more, and stay, because receipts and audit seals that they
 * have signed are verified for years. The private part of a row that nothing else proves is its proof, and stays too.
 */
export async function forgetRetiredPrivateKeys(db: Db, now: Date): Promise<number> {
  const { rowCount } = await db.query(
    `update webhook_keys set private_key = null
     where verifies_until <= $1 and private_key is not null and authentication is not null`,
    [now],
  )
  return rowCount ?? 0
}
