// Rows as the version before wrote them, put into a database with the schema that it had (test/upgrade/keep-data.ts).

import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Db } from '../../server/store/connection/db.ts'

export const MADE_BEFORE = fileURLToPath(new URL('./made-before.json', import.meta.url))

/** In the order in which they name each other. */
export const KEPT_TABLES = [
  'clients',
  'client_secrets',
  'accounts',
  'signing_keys',
  'endpoints',
] as const

export interface DataBefore {
  version: string
  masterKey: string
  sharedKey: string
  client: { clientId: string; clientSecret: string; accountId: string }
  /** By table: rows as JSON. */
  tables: Record<string, object[]>
}

export async function loadMadeBefore(db: Db): Promise<DataBefore> {
  const kept = JSON.parse(await readFile(MADE_BEFORE, 'utf8')) as DataBefore
  for (const table of KEPT_TABLES) {
    for (const { scope: _, ...row } of kept.tables[table] as { scope?: string }[]) {
      const columns = Object.keys(row).join(', ')
      await db.query(
        `insert into ${table} (${columns}) overriding system value
         select ${columns} from jsonb_populate_record(null::${table}, $1)`,
        [JSON.stringify(row)],
      )
    }
  }
  await db.query(
    `select setval(pg_get_serial_sequence('clients', 'client_key'), max(client_key)) from clients`,
  )
  return kept
}
