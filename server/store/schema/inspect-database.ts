// What `paybell doctor` asks of a database, without changing anything in it: who it is, what time it
// has, which migrations it knows, how far its partitions reach, and where callbacks must go.

import type pg from 'pg'
import { createClient } from '../connection/db.ts'
import type { SealedEndpoint } from '../secrets/endpoint-secrets.ts'
import { countSecretsByMasterKey } from '../secrets/master-keys.ts'
import { FIRST_ENDPOINT, readSealedEndpoints } from '../secrets/reseal.ts'
import { readFormAndBound, type StoredForm } from '../secrets/sealing-form.ts'
import { type KeyTable, readSigningKeys, type StoredSigningKey } from '../secrets/signing-keys.ts'
import { type DefaultRows, readDefaultRows } from './default-partitions.ts'
import { findDurabilityFaults } from './durability.ts'
import { inspectServer, type ServerFacts } from './inspect-server.ts'
import { MIGRATIONS_DIR } from './migrate.ts'
import { findChangedMigrations, readMigrationHashes } from './migration-hashes.ts'

export interface DatabaseFacts {
  /** `150004` is 15.4. */
  versionNumber: number
  versionText: string
  durabilityFaults: readonly string[]
  /** The database's time minus this machine's, at the middle of the round trip. */
  clockSkewMs: number
  roundTripMs: number
  /** How the server is set, and whether our sessions are as they must be. */
  server: ServerFacts
  /** Null when the schema is not there, or this role may not use it. */
  schema: SchemaFacts | null
  /** The schema is there, and this role may not use it. */
  isRefused: boolean
}

export interface SchemaFacts {
  missingMigrations: readonly string[]
  /** In the database, but not in this program: it is older than the schema. */
  unknownMigrations: readonly string[]
  /** The database was made with another text of them than this program has. */
  changedMigrations: readonly string[]
  /** The last day, `2026-11-15`, for which every divided table has a partition; null for none. */
  partitionedUntil: string | null
  /** Rows that had no partition to go to; null when the schema is too old to say. */
  defaultRows: DefaultRows | null
  /** How many stored secrets each master key carries, by the key's id. */
  secretsByMasterKey: ReadonlyMap<string, number>
  /** Every key that signs or verifies; whether they are to be trusted, only the master key tells. */
  keys: Readonly<Record<KeyTable, readonly StoredSigningKey[]>>
  /** How secrets are sealed; null when the schema is too old to say. */
  sealing: (StoredForm & { hasBound: boolean }) | null
  /** Every endpoint with what is sealed for it; only the master key tells whether it opens. */
  sealedEndpoints: readonly SealedEndpoint[]
  /** Addresses of active endpoints, a few, each host once. */
  endpointUrls: readonly string[]
}

const ENDPOINTS_MAX = 1_000
const HOSTS_MAX = 10
const SEALED_AT_ONCE = 2_000
/** Each is a kilobyte. */
const SEALED_MAX = 200_000

export async function inspectDatabase(url: string): Promise<DatabaseFacts> {
  const client = createClient(url, 'paybell doctor', {
    settings: { statement_timeout: 10_000 },
    queryTimeoutMs: 11_000,
    mustTakeWrites: false,
  })
  await client.connect()
  try {
    const sentAtMs = Date.now()
    const { rows } = await client.query<{
      number: number
      text: string
      now: Date
      has_schema: boolean
      is_refused: boolean
    }>(`select current_setting('server_version_num')::int as number,
          current_setting('server_version') as text, clock_timestamp() as now,
          to_regclass('migrations') is not null as has_schema,
          exists (select from pg_namespace where nspname = current_setting('search_path')
            and not has_schema_privilege(oid, 'usage')) as is_refused`)
    const roundTripMs = Date.now() - sentAtMs
    const [row] = rows
    if (row === undefined) throw new Error('the database answers nothing')
    return {
      versionNumber: row.number,
      versionText: row.text,
      durabilityFaults: await findDurabilityFaults(client),
      clockSkewMs: row.now.getTime() - (sentAtMs + roundTripMs / 2),
      roundTripMs,
      server: await inspectServer(client, url),
      schema: row.has_schema ? await inspectSchema(client) : null,
      isRefused: row.is_refused,
    }
  } finally {
    await client.end()
  }
}

async function inspectSchema(client: pg.Client): Promise<SchemaFacts> {
  const { rows: applied } = await client.query<{ name: string }>('select name from migrations')
  const hashes = await readMigrationHashes(MIGRATIONS_DIR)
  const expected = [...hashes.keys()]
  const names = new Set(applied.map(({ name }) => name))
  const missingMigrations = expected.filter((name) => !names.has(name))
  const isWhole = missingMigrations.length === 0
  return {
    missingMigrations,
    unknownMigrations: [...names].filter((name) => !expected.includes(name)).sort(),
    changedMigrations: await findChangedMigrations(client, hashes),
    partitionedUntil: await findPartitionedUntil(client),
    // A schema that is not whole may lack what these ask for.
    defaultRows: isWhole ? await readDefaultRows(client) : null,
    secretsByMasterKey: isWhole ? await countSecretsByMasterKey(client) : new Map(),
    keys: {
      signing_keys: isWhole ? await readSigningKeys(client, 'signing_keys') : [],
      webhook_keys: isWhole ? await readSigningKeys(client, 'webhook_keys') : [],
    },
    sealing: isWhole ? await readFormAndBound(client) : null,
    sealedEndpoints: isWhole ? await readAllSealed(client) : [],
    endpointUrls: isWhole ? await readEndpointUrls(client) : [],
  }
}

async function readAllSealed(client: pg.Client): Promise<readonly SealedEndpoint[]> {
  const all: SealedEndpoint[] = []
  for (let after = FIRST_ENDPOINT; all.length < SEALED_MAX; ) {
    const rows = await readSealedEndpoints(client, after, SEALED_AT_ONCE)
    const last = rows.at(-1)
    if (last === undefined) break
    all.push(...rows)
    after = { clientKey: last.client_key, id: last.id }
  }
  return all
}

async function findPartitionedUntil(client: pg.Client): Promise<string | null> {
  const { rows } = await client.query<{ parent: string; name: string }>(
    `select p.relname as parent, c.relname as name from pg_inherits i
       join pg_class c on c.oid = i.inhrelid
       join pg_class p on p.oid = i.inhparent
      where p.relkind = 'p' and c.relkind = 'r' and p.relnamespace = to_regnamespace(current_schema())`,
  )
  const days = rows.flatMap(({ parent, name }) => {
    const day = /_(\d{4})_(\d\d)_(\d\d)$/.exec(name)?.slice(1, 4).join('-')
    return day === undefined ? [] : [{ parent, day }]
  })
  const lastDays = [...Map.groupBy(days, ({ parent }) => parent).values()].map((of) =>
    of
      .map(({ day }) => day)
      .sort()
      .at(-1),
  )
  return lastDays.sort()[0] ?? null
}

async function readEndpointUrls(client: pg.Client): Promise<readonly string[]> {
  // By the index on changes: those that changed last are those that people ask about.
  const { rows } = await client.query<{ url: string }>({
    text: `select url from endpoints where deleted_at is null and status = 'ACTIVE'
           order by changed_at desc limit $1`,
    values: [ENDPOINTS_MAX],
  })
  const byHost = new Map(rows.map(({ url }) => [new URL(url).host, url]))
  return [...byHost.values()].slice(0, HOSTS_MAX)
}
