// Whether a pooler stands between us and PostgreSQL, and whether it leaves us our connections. One that
// shares them between transactions takes away what we rest on: settings, prepared statements, LISTEN,
// and locks that last as long as a session.

import type pg from 'pg'

export type Pooling = 'none' | 'session' | 'transaction'

/** A pooler that shares may hand out the same connection by chance, so it is asked more than once. */
const TRIES = 5

/** `open` connects once more, beside the client. */
export async function findPooling(
  client: pg.Client,
  open: () => Promise<pg.Client>,
): Promise<Pooling> {
  const own = await readPid(client)
  // PostgreSQL tells each connection the number of its process; a pooler tells one of its own making.
  if ((client as pg.Client & { processID?: number }).processID === own) return 'none'
  const other = await open()
  try {
    for (let n = 0; n < TRIES; n++) {
      await other.query('begin')
      // While the other one is in a transaction, its connection is its own in any mode.
      if ((await readPid(other)) === own || (await readPid(client)) !== own) return 'transaction'
      await other.query('rollback')
    }
    return 'session'
  } finally {
    await other.end()
  }
}

async function readPid(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows[0]?.pid ?? 0
}
