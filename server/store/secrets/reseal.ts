// Sealed secrets that are still under another key than the one that writes, or not bound to their address yet: read in the
// order of their keys, a chunk at a time, and replaced only where they are unchanged.

import { NIL_UUID } from '../../core/plain/uuid.ts'
import type { Db } from '../connection/db.ts'
import { column } from '../sql/columns.ts'
import { SEALED_ENDPOINT_COLUMNS, type SealedEndpoint } from './endpoint-secrets.ts'
import { BOUND_FORM } from './sealing.ts'

/** With what a row is bound to. */
export interface EndpointToReseal extends SealedEndpoint {
  client_key: number
}

export interface EndpointCursor {
  clientKey: number
  id: string
}

export const FIRST_ENDPOINT: EndpointCursor = { clientKey: 0, id: NIL_UUID }

/** A sealed text begins with its form and the id of its master key (store/secrets/sealing). */
const isForeign = (column: string) =>
  `(${column} is not null and substring(${column} from 1 for 5) <> $1::bytea)`

export async function readEndpointsToReseal(
  db: Db,
  sealedPrefix: Buffer,
  after: EndpointCursor,
  limit: number,
): Promise<readonly EndpointToReseal[]> {
  const { rows } = await db.query<EndpointToReseal>({
    name: 'read-endpoints-to-reseal',
    text: `select client_key, id, url, oauth2,
             ${SEALED_ENDPOINT_COLUMNS.join(', ')}
           from endpoints
           where (client_key, id) > ($2, $3)
             and (${SEALED_ENDPOINT_COLUMNS.map(isForeign).join(' or ')}
               or (oauth2 is not null and oauth2_secret is null
                 and get_byte($1::bytea, 0) = ${BOUND_FORM}))
           order by client_key, id limit $4`,
    values: [sealedPrefix, after.clientKey, after.id, limit],
  })
  return rows
}

export interface ResealedEndpoint {
  before: EndpointToReseal
  after: EndpointToReseal
}

/** All, a chunk at a time, for those who want to know which open. */
export async function readSealedEndpoints(
  db: Db,
  after: EndpointCursor,
  limit: number,
): Promise<readonly EndpointToReseal[]> {
  const { rows } = await db.query<EndpointToReseal>({
    name: 'read-sealed-endpoints',
    text: `select client_key, id, url, oauth2,
             ${SEALED_ENDPOINT_COLUMNS.join(', ')}
           from endpoints where (client_key, id) > ($1, $2) and deleted_at is null
           order by client_key, id limit $3`,
    values: [after.clientKey, after.id, limit],
  })
  return rows
}

/** Returns how many were replaced. Not a change that engines have to hear of: the keys are the same. */
export async function replaceSealedEndpoints(
  db: Db,
  rows: readonly ResealedEndpoint[],
): Promise<number> {
  if (rows.length === 0) return 0
  const { rowCount } = await db.query({
    name: 'replace-sealed-endpoints',
    text: `update endpoints e set shared_key = g.shared_key, previous_key = g.previous_key,
             header_value = g.header_value, oauth2_secret = g.oauth2_secret
           from unnest($1::int[], $2::uuid[], $3::text[], $4::bytea[], $5::bytea[], $6::bytea[],
               $7::bytea[], $8::bytea[], $9::bytea[], $10::bytea[], $11::bytea[])
             as g (client_key, id, url, shared_key, previous_key, header_value, oauth2_secret,
               old_shared_key, old_previous_key, old_header_value, old_oauth2_secret)
           where e.client_key = g.client_key and e.id = g.id and e.url = g.url
             and e.shared_key = g.old_shared_key
             and e.previous_key is not distinct from g.old_previous_key
             and e.header_value is not distinct from g.old_header_value
             and e.oauth2_secret is not distinct from g.old_oauth2_secret`,
    values: [
      column('int', rows, ({ before }) => before.client_key),
      column('uuid', rows, ({ before }) => before.id),
      column('text', rows, ({ before }) => before.url),
      ...SEALED_ENDPOINT_COLUMNS.map((name) => column('bytea', rows, ({ after }) => after[name])),
      ...SEALED_ENDPOINT_COLUMNS.map((name) => column('bytea', rows, ({ before }) => before[name])),
    ],
  })
  return rowCount ?? 0
}

/** The tables with a sealed private key, and what names a row of each. */
const PRIVATE_KEY_IDS = {
  signing_keys: 'kid',
  webhook_keys: 'kid',
  client_certificates: 'id::text',
}
export type PrivateKeyTable = keyof typeof PRIVATE_KEY_IDS

export interface SealedPrivateKey {
  id: string
  private_key: Buffer
}

export async function readPrivateKeysToReseal(
  db: Db,
  table: PrivateKeyTable,
  sealedPrefix: Buffer,
): Promise<readonly SealedPrivateKey[]> {
  const { rows } = await db.query<SealedPrivateKey>({
    text: `select ${PRIVATE_KEY_IDS[table]} as id, private_key from ${table}
           where ${isForeign('private_key')} order by 1`,
    values: [sealedPrefix],
  })
  return rows
}

/** `keys` come with what they were; returns how many were replaced. */
export async function replaceSealedPrivateKeys(
  db: Db,
  table: PrivateKeyTable,
  keys: readonly { before: SealedPrivateKey; after: Buffer }[],
): Promise<number> {
  if (keys.length === 0) return 0
  const { rowCount } = await db.query({
    text: `update ${table} k set private_key = g.private_key
           from unnest($1::text[], $2::bytea[], $3::bytea[]) as g (id, private_key, old_private_key)
           where k.${PRIVATE_KEY_IDS[table]} = g.id and k.private_key = g.old_private_key`,
    values: [
      column('text', keys, ({ before }) => before.id),
      column('bytea', keys, ({ after }) => after),
      column('bytea', keys, ({ before }) => before.private_key),
    ],
  })
  return rowCount ?? 0
}

/** What is kept only as an HMAC under another key than the one that writes. */
export async function countForeignDigests(
  db: Db,
  digestKeyId: string,
): Promise<{ clientSecrets: number; operatorKeys: number }> {
  const { rows } = await db.query<{ client_secrets: number; operator_keys: number }>({
    text: `select
             (select count(*)::int from client_secrets where master_key_id <> $1) as client_secrets,
             (select count(*)::int from operator_keys
              where master_key_id <> $1 and revoked_at is null) as operator_keys`,
    values: [digestKeyId],
  })
  const row = rows[0] as (typeof rows)[number]
  return { clientSecrets: row.client_secrets, operatorKeys: row.operator_keys }
}
