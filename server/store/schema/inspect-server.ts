// What `paybell doctor` asks of the server apart from our tables: whether it takes writes, what stands
// before it, whether our sessions are set as they must be, and the settings that only its owner can change.

import type pg from 'pg'
import { createClient } from '../connection/db.ts'
import { IS_READ_ONLY } from '../connection/read-only.ts'
import { addressOf, sessionOf } from '../connection/session.ts'
import { findPooling, type Pooling } from './pooler.ts'

/** What doctor looks at, besides durability. docs/operations.md says what each is for. */
export const SERVER_SETTINGS = [
  'max_connections',
  'superuser_reserved_connections',
  'max_prepared_transactions',
  'max_locks_per_transaction',
  'autovacuum',
  'autovacuum_naptime',
  'max_wal_size',
  'checkpoint_timeout',
  'wal_compression',
] as const

export type ServerSetting = (typeof SERVER_SETTINGS)[number]

export interface ServerFacts {
  isReadOnly: boolean
  pooling: Pooling
  /** Settings of our sessions that are not in force, although they were set a statement before. */
  lostSettings: readonly string[]
  /** As PostgreSQL writes them: `1GB`, `5min`, `on`. */
  settings: ReadonlyMap<ServerSetting, string>
  /** Days that have partitions. */
  days: number
}

export async function inspectServer(client: pg.Client, url: string): Promise<ServerFacts> {
  const settings = await readSettings(client, SERVER_SETTINGS)
  const wanted = sessionOf(addressOf(url).cell)
  const ours = await readSettings(client, Object.keys(wanted))
  const { rows } = await client.query<{ read_only: boolean }>(IS_READ_ONLY)
  return {
    isReadOnly: rows[0]?.read_only !== false,
    pooling: await findPooling(client, async () => {
      const other = createClient(url, 'paybell doctor', { queryTimeoutMs: 5_000 })
      await other.connect()
      return other
    }),
    lostSettings: Object.entries(wanted)
      .filter(([name, value]) => ours.get(name) !== value)
      .map(([name]) => name),
    settings: settings as ReadonlyMap<ServerSetting, string>,
    days: await countDays(client),
  }
}

async function readSettings(
  client: pg.Client,
  names: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ name: string; value: string }>(
    'select name, current_setting(name) as value from unnest($1::text[]) as name',
    [names],
  )
  return new Map(rows.map(({ name, value }) => [name, value]))
}

async function countDays(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ days: number }>(
    `select count(distinct right(c.relname, 10)) as days
     from pg_class c
     where c.relnamespace = to_regnamespace(current_schema()) and c.relkind = 'r' and c.relispartition
       and c.relname ~ '_\\d{4}_\\d\\d_\\d\\d$'`,
  )
  return rows[0]?.days ?? 0
}
