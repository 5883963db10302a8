// The two databases of a move: a connection to each, and the transactions on them. Both connections hold the lock of the
// client's move, for as long as they live: so a run, a second one and an undo never meet, and where one has lost a
// connection, the next waits until that session has ended, and then sees what became of it.

import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { createClient, type Db } from '../connection/db.ts'
import { LOCK_TIMEOUT, LOCK_TRIES, tryForLocks } from '../connection/lock-tries.ts'
import { findMoveLocker, hasMoveLock, tryLockMove } from '../connection/locks.ts'
import { readDatabaseTimeMs } from '../owed/leases.ts'

export interface EndUrls {
  clientId: string
  /** Each with its cell. */
  sourceUrl: string
  targetUrl: string
  /** For the end of another run, or of a session of one that was broken off. */
  waitMsMax?: number
}

/** A commit may wait for a standby, and a broken connection for the end of its statement. */
const WAIT_MS_MAX = 5_000
const LOOK_EVERY_MS = 100

/**
 * The fence is a trigger, which Citus has to be asked for, and the client that may pass it is named where it stands. On a
 * plain server both mean nothing.
 */
const ON_A_CLUSTER = [
  'set citus.enable_unsafe_triggers = on',
  "set citus.propagate_set_commands = 'local'",
]

export interface Ends {
  source: End
  target: End
}

export async function onBothEnds<T>(
  { clientId, sourceUrl, targetUrl, waitMsMax = WAIT_MS_MAX }: EndUrls,
  work: (ends: Ends) => Promise<T>,
): Promise<T> {
  const [source, target] = [new End(sourceUrl, clientId), new End(targetUrl, clientId)]
  try {
    for (const end of [source, target]) await end.open(waitMsMax)
    return await work({ source, target })
  } finally {
    await Promise.allSettled([source.db.end(), target.db.end()])
  }
}

export class End {
  readonly db: pg.Client
  readonly #clientId: string

  constructor(url: string, clientId: string) {
    this.db = createClient(url, 'paybell move', { mustTakeWrites: true })
    this.#clientId = clientId
  }

  /** Waits for its lock. */
  async open(waitMsMax: number): Promise<void> {
    await this.db.connect()
    await this.db.query(`set lock_timeout = '${LOCK_TIMEOUT}'`)
    for (const setting of ON_A_CLUSTER) await this.db.query(setting)
    const untilMs = performance.now() + waitMsMax
    while (!(await tryLockMove(this.db, this.#clientId))) {
      if (performance.now() >= untilMs) {
        const pid = await findMoveLocker(this.db, this.#clientId)
        throw new Error(
          `another run moves this client, or undoes its move (session ${pid ?? 'unknown'} of the database): wait for its end, or stop it, and start again`,
        )
      }
      await delay(LOOK_EVERY_MS)
    }
  }

  /** Throws where the lock is lost, which it is only with the session. */
  async assertHeld(): Promise<void> {
    if (await hasMoveLock(this.db, this.#clientId)) return
    throw new Error(
      'the lock of the move was lost: connect to PostgreSQL itself, not through a pooler, and start again',
    )
  }

  /**
   * One transaction, tried again while a lock is not to be had. It waits for one for a moment at a time, because all others
   * of its cell would wait for it, too.
   */
  change<T>(work: (db: pg.Client) => Promise<T>): Promise<T> {
    return tryForLocks(this.db, 'the move could not go on', LOCK_TRIES, () =>
      this.#within('begin', 'commit', work),
    )
  }

  /** One snapshot, in which nothing is changed. */
  read<T>(work: (db: pg.Client) => Promise<T>): Promise<T> {
    return this.#within('begin isolation level repeatable read read only', 'rollback', work)
  }

  async #within<T>(
    begin: string,
    end: 'commit' | 'rollback',
    work: (db: pg.Client) => Promise<T>,
  ): Promise<T> {
    await this.db.query(begin)
    try {
      await this.assertHeld()
      const result = await work(this.db)
      await this.db.query(end)
      return result
    } catch (error) {
      await this.db.query('rollback').catch(() => {})
      throw error
    }
  }
}

/** Deliveries go by the clock of their database. */
export async function nowOf(db: Db): Promise<Date> {
  return new Date(Math.floor(await readDatabaseTimeMs(db)))
}
