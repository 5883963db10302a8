// The two databases of a move: a connection to each, and the transactions on them. One waits for a lock for a moment
// at a time, because all others of its cell would wait for it, too.

import type pg from 'pg'
import { createClient, type Db } from './db.ts'
import { readDatabaseTimeMs } from './leases.ts'
import { LOCK_TIMEOUT, LOCK_TRIES, tryForLocks } from './lock-tries.ts'

export interface Ends {
  source: pg.Client
  target: pg.Client
}

export interface EndUrls {
  /** Each with its cell. */
  sourceUrl: string
  targetUrl: string
}

/**
 * The fence is a trigger, which Citus has to be asked for, and the client that may pass it is named where it stands. On a
 * plain server both mean nothing.
 */
const ON_A_CLUSTER = [
  'set citus.enable_unsafe_triggers = on',
  "set citus.propagate_set_commands = 'local'",
]

export async function onBothEnds<T>(
  { sourceUrl, targetUrl }: EndUrls,
  work: (ends: Ends) => Promise<T>,
): Promise<T> {
  const source = createClient(sourceUrl, 'paybell move', { mustTakeWrites: true })
  const target = createClient(targetUrl, 'paybell move', { mustTakeWrites: true })
  try {
    for (const client of [source, target]) {
      await client.connect()
      await client.query(`set lock_timeout = '${LOCK_TIMEOUT}'`)
      for (const setting of ON_A_CLUSTER) await client.query(setting)
    }
    return await work({ source, target })
  } finally {
    await Promise.allSettled([source.end(), target.end()])
  }
}

/** One transaction, tried again while a lock is not to be had. */
export function changing<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  return tryForLocks(client, 'the move could not go on', LOCK_TRIES, () =>
    within(client, 'begin', 'commit', work),
  )
}

/** One snapshot, in which nothing is changed. */
export function reading<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  return within(client, 'begin isolation level repeatable read read only', 'rollback', work)
}

async function within<T>(
  client: pg.Client,
  begin: string,
  end: 'commit' | 'rollback',
  work: () => Promise<T>,
): Promise<T> {
  await client.query(begin)
  try {
    const result = await work()
    await client.query(end)
    return result
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}

/** Deliveries go by the clock of their database. */
export async function nowOf(db: Db): Promise<Date> {
  return new Date(Math.floor(await readDatabaseTimeMs(db)))
}
