// A pool that counts what its statements lock: the most relations that were locked at one time in a
// transaction, or by a statement alone.

import type { Pool, PoolClient } from 'pg'

const COUNT = `select count(*)::int as count from pg_locks
  where pid = pg_backend_pid() and locktype = 'relation'`

/** Locks nothing, or must be the first of its transaction. */
const CONTROL = /^(begin|set|savepoint|rollback|commit)\b/

export interface LockCounter {
  pool: Pool
  /** Since the last time it was asked. */
  takeMax(): number
}

export function countLocks(pool: Pool): LockCounter {
  let max = 0
  const counting = (client: PoolClient) => {
    const query = (...args: Parameters<PoolClient['query']>) => {
      const result = client.query(...args)
      if (typeof args[0] === 'string' && CONTROL.test(args[0])) return result
      // Sent at once: statements that travel together would release the locks before they are counted.
      client.query(COUNT).then(
        ({ rows }) => {
          max = Math.max(max, rows[0].count)
        },
        () => {},
      )
      return result
    }
    return { query, release: (error?: Error) => client.release(error) }
  }
  return {
    pool: {
      connect: async () => counting(await pool.connect()),
      async query(...args: Parameters<PoolClient['query']>) {
        const client = await pool.connect()
        try {
          await client.query('begin')
          const result = await counting(client).query(...args)
          await client.query('commit')
          return result
        } catch (error) {
          await client.query('rollback')
          throw error
        } finally {
          client.release()
        }
      },
    } as unknown as Pool,
    takeMax() {
      const taken = max
      max = 0
      return taken
    },
  }
}
