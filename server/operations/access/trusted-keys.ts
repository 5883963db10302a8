// Which keys of the database are the service's own. Whoever can write to the database can put a key there, so a row
// counts only if a holder of the master key has authenticated its id, its public part and its time. A row without that,
// such as the version before makes, is proven by its sealed private part. What neither proves is trusted for nothing:
// it is not published and verifies no token, receipt or seal, until an operator adopts it with the master key.

import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { toCanonicalJson } from '../../core/plain/canonical-json.ts'
import { isUuid, uuidTimeMs } from '../../core/plain/uuid.ts'
import type { Db } from '../../store/connection/db.ts'
import {
  readForeignClientKeys,
  replaceClientKeyAuthentications,
  type StoredClientKey,
} from '../../store/secrets/client-keys.ts'
import type { SealedField, Sealer } from '../../store/secrets/sealing.ts'
import {
  type KeyTable,
  readSigningKeys,
  replaceAuthentications,
  type StoredSigningKey,
} from '../../store/secrets/signing-keys.ts'

/** An id is made a moment before its row. A row of another time than its id's was dated anew. */
const ID_TO_ROW_MS_MAX = 3_600_000

export interface JudgedKeys {
  /** The newest first. */
  trusted: readonly StoredSigningKey[]
  untrusted: readonly StoredSigningKey[]
}

export async function readJudgedKeys(db: Db, sealer: Sealer, table: KeyTable): Promise<JudgedKeys> {
  return judgeKeys(sealer, table, await readSigningKeys(db, table))
}

export function judgeKeys(
  sealer: Sealer,
  table: KeyTable,
  keys: readonly StoredSigningKey[],
): JudgedKeys {
  const isTrusted = (key: StoredSigningKey) =>
    isAuthentic(sealer, table, key) || isProven(sealer, table, key)
  const { trusted = [], untrusted = [] } = Object.groupBy(keys, (key) =>
    isTrusted(key) ? 'trusted' : 'untrusted',
  )
  return { trusted, untrusted }
}

export function authenticateKey(
  sealer: Sealer,
  table: KeyTable,
  key: Pick<StoredSigningKey, 'kid' | 'publicJwk' | 'createdAt'>,
): Buffer {
  return sealer.authenticate(textOf(key), fieldOf(table, 'authentication', key.kid))
}

/**
 * Authenticates under the first master key what is trusted and is not yet, so that it stays trusted without its private
 * part and without the other master keys. Says how many were, and how many are not trusted.
 */
export async function authenticateTrusted(
  db: Db,
  sealer: Sealer,
  table: KeyTable,
): Promise<{ authenticated: number; untrusted: number }> {
  const { trusted, untrusted } = await readJudgedKeys(db, sealer, table)
  const left = trusted.filter(
    (key) => !isAuthentic(sealer, table, key) || !sealer.isOfWriteKey(key.authentication as Buffer),
  )
  const keys = left.map((before) => ({ before, after: authenticateKey(sealer, table, before) }))
  const authenticated = await replaceAuthentications(db, table, keys)
  return { authenticated, untrusted: untrusted.length }
}

/** Throws when the sealed text is damaged, moved, or under a master key that is not configured. */
export function openPrivateKey(
  sealer: Sealer,
  table: KeyTable,
  kid: string,
  sealed: Buffer,
): KeyObject {
  const opened = sealer.open(sealed, privateFieldOf(table, kid))
  return createPrivateKey({ key: JSON.parse(opened.toString()), format: 'jwk' })
}

export function privateFieldOf(table: KeyTable, kid: string): SealedField {
  return fieldOf(table, 'private_key', kid)
}

function isAuthentic(sealer: Sealer, table: KeyTable, key: StoredSigningKey): boolean {
  const field = fieldOf(table, 'authentication', key.kid)
  return sealer.isAuthentic(key.authentication, textOf(key), field)
}

/** Whether the row is one that a service could have made: its id, in it and in the key, and its time agree. */
export function isPlain({ kid, publicJwk, createdAt }: StoredSigningKey): boolean {
  if (!isUuid(kid) || publicJwk.kid !== kid) return false
  return Math.abs(createdAt.getTime() - uuidTimeMs(kid)) <= ID_TO_ROW_MS_MAX
}

function isProven(sealer: Sealer, table: KeyTable, key: StoredSigningKey): boolean {
  const { kid, publicJwk, sealedPrivateKey } = key
  if (sealedPrivateKey === null || !isPlain(key)) return false
  try {
    const own = createPublicKey(openPrivateKey(sealer, table, kid, sealedPrivateKey))
    const { kty, crv, x } = own.export({ format: 'jwk' })
    return publicJwk.kty === kty && publicJwk.crv === crv && publicJwk.x === x
  } catch {
    return false
  }
}

/** Not its end: processes of the version before set it, too. A newer key ends it in any case (core/signatures/key-life). */
function textOf({ publicJwk, createdAt }: Pick<StoredSigningKey, 'publicJwk' | 'createdAt'>) {
  return toCanonicalJson({ publicJwk, createdAt: createdAt.toISOString() })
}

function fieldOf(table: KeyTable, column: string, kid: string): SealedField {
  return { column: `${table}.${column}`, row: kid }
}

export function authenticateClientKey(
  sealer: Sealer,
  clientId: string,
  key: Omit<StoredClientKey, 'authentication'>,
): Buffer {
  return sealer.authenticate(textOf(key), clientFieldOf(clientId, key.kid))
}

/** Authenticates under the first master key what is trusted and is not yet. Says how many were, and how many are not trusted. */
export async function authenticateClientKeys(
  db: Db,
  sealer: Sealer,
): Promise<{ authenticated: number; untrusted: number }> {
  const done = { authenticated: 0, untrusted: 0 }
  for (let after = { clientKey: 0, kid: '' }; ; ) {
    const keys = await readForeignClientKeys(db, sealer.writeKeyId, after, CHUNK)
    const last = keys.at(-1)
    if (last === undefined) return done
    const own = keys.filter((key) => isOwnClientKey(sealer, key.clientId, key))
    done.untrusted += keys.length - own.length
    done.authenticated += await replaceClientKeyAuthentications(
      db,
      own.map((before) => ({
        before,
        after: authenticateClientKey(sealer, before.clientId, before),
      })),
    )
    after = last
  }
}

const CHUNK = 500

export function isOwnClientKey(sealer: Sealer, clientId: string, key: StoredClientKey): boolean {
  return sealer.isAuthentic(key.authentication, textOf(key), clientFieldOf(clientId, key.kid))
}

/** Bound to the client: a row that is put under another one is not its own. */
function clientFieldOf(clientId: string, kid: string) {
  return { column: 'client_keys.authentication', row: `${clientId} ${kid}` }
}
