// Whether a database is one that Paybell can keep its promises on: new enough, taking writes, durable,
// and with connections that are ours as long as we hold them.

import { createClient } from '../connection/db.ts'
import { findDurabilityFaults } from './durability.ts'
import { findPooling } from './pooler.ts'

const VERSION_MIN = 150_000

/**
 * Throws for a server that cannot be used: one that is away, takes no writes, is too old, or is reached
 * through a pooler that shares connections. Returns what is not durable about it, a sentence each.
 */
export async function checkDatabase(url: string): Promise<readonly string[]> {
  const open = async () => {
    const client = createClient(url, 'paybell check', {
      mustTakeWrites: true,
      queryTimeoutMs: 5_000,
    })
    await client.connect()
    return client
  }
  const client = await open()
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
    if ((await findPooling(client, open)) === 'transaction') {
      throw new Error(
        'the database is behind a pooler that shares connections between transactions; Paybell needs connections of its own: set pool_mode = session, or connect without the pooler',
      )
    }
    return await findDurabilityFaults(client)
  } finally {
    await client.end()
  }
}
