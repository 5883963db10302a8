// A client with so many accounts, one webhook each, written straight into the tables, thousands at once: a hundred
// thousand registrations would take longer than the cell they are for.

import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { hashHref, shardOf } from '../../server/core/delivery/endpoint.ts'
import type { EndpointSettings } from '../../server/core/delivery/endpoint-settings.ts'
import { UuidMaker } from '../../server/core/plain/uuid.ts'
import { makeSecret } from '../../server/operations/access/issue-client-secret.ts'
import { bindOauth2 } from '../../server/operations/endpoints/seal-oauth2.ts'
import { learnSealing } from '../../server/operations/sealing/bind-addresses.ts'
import { createClient } from '../../server/store/connection/db.ts'
import { replaceSettings } from '../../server/store/endpoints/endpoints.ts'
import { migrate } from '../../server/store/schema/migrate.ts'
import { insertSecret } from '../../server/store/secrets/client-secrets.ts'
import { insertClient } from '../../server/store/secrets/clients.ts'
import { sealedFor } from '../../server/store/secrets/endpoint-secrets.ts'
import { Sealer } from '../../server/store/secrets/sealing.ts'
import { endpointPath } from '../harness/system.ts'

export const SHARED_KEY = 'a-long-random-text-that-only-we-two-know'

const ROWS_AT_ONCE = 5_000

export interface Prepared {
  clientId: string
  clientKey: number
  clientSecret: string
  accountIds: string[]
  endpoints: { id: string; shard: number; accountId: string; path: string }[]
}

export async function preparePaybell(options: {
  databaseUrl: string
  masterKey: Buffer
  receiverUrl: string
  endpoints: number
  /** The first endpoints live at an origin of their own. */
  apart?: { url: string; count: number } | undefined
  /** What the n-th endpoint asks for. */
  settingsOf?: ((number: number) => EndpointSettings) | undefined
}): Promise<Prepared> {
  await migrate(options.databaseUrl, new Date())
  const client = createClient(options.databaseUrl, 'paybell bench')
  await client.connect()
  try {
    await client.query('begin')
    const prepared = await insertAll(client, options)
    await client.query('commit')
    await client.query('analyze')
    return prepared
  } finally {
    await client.end()
  }
}

async function insertAll(
  db: pg.Client,
  { masterKey, receiverUrl, endpoints, apart, settingsOf }: Parameters<typeof preparePaybell>[0],
): Promise<Prepared> {
  // Registered a while ago: what was changed within the last half minute is read again by each look.
  const now = new Date(Date.now() - 3_600_000)
  const ids = new UuidMaker(() => Date.now(), randomBytes)
  const newId = () => ids.next()
  const sealer = new Sealer([masterKey])
  await learnSealing({ pool: db, sealer })
  const secret = makeSecret({ sealer, newId })
  const client = await insertClient(db, { id: newId(), name: 'Bench' }, now)
  await insertSecret(db, client.clientKey, secret.stored, now)
  const prepared: Prepared = {
    clientId: client.id,
    clientKey: client.clientKey,
    clientSecret: secret.text,
    accountIds: [],
    endpoints: [],
  }
  for (let first = 0; first < endpoints; first += ROWS_AT_ONCE) {
    const rows: NewRow[] = []
    for (let number = first; number < Math.min(first + ROWS_AT_ONCE, endpoints); number++) {
      const accountId = newId()
      const id = newId()
      const path = endpointPath(number)
      const url = (apart !== undefined && number < apart.count ? apart.url : receiverUrl) + path
      const sealed = sealer.seal(Buffer.from(SHARED_KEY), sealedFor('shared_key', { id, url }))
      rows.push({ accountId, id, name: `Account ${number}`, shard: shardOf(id), url, sealed })
      prepared.accountIds.push(accountId)
      prepared.endpoints.push({ id, shard: shardOf(id), accountId, path })
    }
    await insertRows(db, client.clientKey, rows, now)
  }
  if (settingsOf) {
    for (const [number, { id }] of prepared.endpoints.entries()) {
      const settings = bindOauth2(sealer, id, settingsOf(number))
      await replaceSettings(db, client.clientKey, id, settings, now)
    }
  }
  return prepared
}

/** An account with its only endpoint. */
interface NewRow {
  accountId: string
  name: string
  id: string
  shard: number
  url: string
  sealed: Buffer
}

async function insertRows(
  db: pg.Client,
  clientKey: number,
  rows: readonly NewRow[],
  now: Date,
): Promise<void> {
  await db.query(
    `insert into accounts (client_key, id, name, created_at)
     select $1, id, name, $2 from unnest($3::uuid[], $4::text[]) as g (id, name)`,
    [clientKey, now, rows.map(({ accountId }) => accountId), rows.map(({ name }) => name)],
  )
  await db.query(
    `insert into endpoints (client_key, id, kind, account_id, shard, url, href_hash, shared_key,
       created_at, changed_at)
     select $1, id, 'webhook', account_id, shard, url, href_hash, shared_key, $2, $2
     from unnest($3::uuid[], $4::uuid[], $5::int[], $6::text[], $7::bytea[], $8::bytea[])
       as g (id, account_id, shard, url, href_hash, shared_key)`,
    [
      ...[clientKey, now, rows.map(({ id }) => id), rows.map(({ accountId }) => accountId)],
      ...[rows.map(({ shard }) => shard), rows.map(({ url }) => url)],
      ...[rows.map(({ url }) => hashHref(url)), rows.map(({ sealed }) => sealed)],
    ],
  )
}
