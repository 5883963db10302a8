// A client with so many accounts, one webhook each, written straight into the store: ten thousand
// registrations over HTTP would take longer than the cell they are for.

import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { hashHref, shardOf } from '../../server/core/delivery/endpoint.ts'
import type { EndpointSettings } from '../../server/core/delivery/endpoint-settings.ts'
import { UuidMaker } from '../../server/core/plain/uuid.ts'
import { makeSecret } from '../../server/operations/access/issue-client-secret.ts'
import { createClient } from '../../server/store/connection/db.ts'
import { insertEndpoint } from '../../server/store/endpoints/endpoints.ts'
import { migrate } from '../../server/store/schema/migrate.ts'
import { insertAccount } from '../../server/store/secrets/accounts.ts'
import { insertSecret } from '../../server/store/secrets/client-secrets.ts'
import { insertClient } from '../../server/store/secrets/clients.ts'
import { Sealer } from '../../server/store/secrets/sealing.ts'
import { endpointPath } from '../harness/system.ts'

export const SHARED_KEY = 'a-long-random-text-that-only-we-two-know'

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
  for (let number = 0; number < endpoints; number++) {
    const accountId = newId()
    const id = newId()
    const path = endpointPath(number)
    const url = (apart !== undefined && number < apart.count ? apart.url : receiverUrl) + path
    await insertAccount(db, client.clientKey, { id: accountId, name: `Account ${number}` }, now)
    const place = { column: 'endpoints.shared_key', row: id }
    const shard = shardOf(id)
    await insertEndpoint(
      db,
      {
        clientKey: client.clientKey,
        kind: 'webhook',
        accountId,
        id,
        shard,
        url,
        hrefHash: hashHref(url),
        sealedKey: sealer.seal(Buffer.from(SHARED_KEY), place),
        header: null,
        settings: settingsOf?.(number) ?? null,
      },
      now,
    )
    prepared.accountIds.push(accountId)
    prepared.endpoints.push({ id, shard, accountId, path })
  }
  return prepared
}
