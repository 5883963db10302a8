// What webhook_keys have beyond other signing keys (store/signing-keys): a key that signs no more loses its private
// part and stays, because receipts and audit seals that it has signed are verified for years.

import type { Db } from './db.ts'

export interface RetiredWebhookKey {
  publicJwk: Readonly<Record<string, unknown>>
  retiredAt: Date
}

interface RetiredRow {
  public_jwk: Record<string, unknown>
  verifies_until: Date
}

/** The last ones whose end has come, the newest first. */
export async function readRetiredWebhookKeys(
  db: Db,
  now: Date,
  limit: number,
): Promise<readonly RetiredWebhookKey[]> {
  const { rows } = await db.query<RetiredRow>({
    name: 'read-retired-webhook-keys',
    text: `select public_jwk, verifies_until from webhook_keys where verifies_until <= $1
           order by created_at desc, kid desc limit $2`,
    values: [now, limit],
  })
  return rows.map((row) => ({ publicJwk: row.public_jwk, retiredAt: row.verifies_until }))
}

/** Keys whose end has come can sign nothing any more. Returns how many lost their private part. */
export async function forgetRetiredPrivateKeys(db: Db, now: Date): Promise<number> {
  const { rowCount } = await db.query(
    `update webhook_keys set private_key = null
     where verifies_until <= $1 and private_key is not null`,
    [now],
  )
  return rowCount ?? 0
}

/** The public parts of all keys there ever were, for the seals of the audit. */
export async function readWebhookKeySet(
  db: Db,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { rows } = await db.query<{ kid: string; public_jwk: Record<string, unknown> }>(
    'select kid, public_jwk from webhook_keys order by created_at desc limit 1000',
  )
  return rows.map(({ kid, public_jwk: publicJwk }) => ({ ...publicJwk, kid }))
}
