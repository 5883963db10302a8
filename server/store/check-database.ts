// Whether a database is one that Paybell can keep its promises on: new enough, and durable.

import { createClient } from './db.ts'
import { findDurabilityFaults } from './durability.ts'

const VERSION_MIN = 150_000

/** Throws for a server that is too old; returns what is not durable about it, a sentence each. */
export async function checkDatabase(url: string): Promise<readonly string[]> {
  const client = createClient(url, 'paybell check')
  await client.connect()
  try {
    const { rows } = await client.query<{ version: number }>(
      `select current_setting('server_version_num')::int as version`,
    )
    const version = rows[0]?.version ?? 0
    if (version < VERSION_MIN) {
      throw new Error(
        `the database is PostgreSQL ${Math.floor(version / 10_000)}; Paybell needs 15 or later`,
      )
    }
    return await findDurabilityFaults(client)
  } finally {
    await client.end()
  }
}
