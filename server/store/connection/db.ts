// The pool, transactions, and what a failing database means: "away" becomes one ServiceError, which
// the outside sees as 503, never as a refusal. All tables live in the schema of one cell (core/network/cell.ts).

import pg from 'pg'
import { ServiceError } from '../../core/plain/errors.ts'
import { FirstFreePool } from './first-free-pool.ts'
import { HostFinder } from './hosts.ts'
import { isReadOnlyError } from './read-only.ts'
import { addressOf, connectMsMaxOf, createClient, SessionClient } from './session.ts'
import { type AskServer, watchForSilence } from './silence.ts'

export { createClient }

/** What store functions take first: the pool for one statement, a client inside a transaction. */
export interface Db {
  query<R extends pg.QueryResultRow = pg.QueryResultRow>(
    config: string | pg.QueryConfig,
    values?: unknown[],
  ): Promise<pg.QueryResult<R>>
}

export interface PoolOptions {
  url: string
  connectionsMax: number
  /** Told about connections that die while idle: expected when the database restarts. */
  onIdleError: (error: Error) => void
  applicationName: string
  statementTimeoutMs?: number
}

// bigint columns (versions, epochs, counts) stay far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

/** Both sides give up: the server on its statement, we on a connection that no longer answers. */
const STATEMENT_MS_MAX = 9_500
const ANSWER_MARGIN_MS = 500

/** Of idle connections so many stay: what a quiet service asks for at the same time needs none that is opened for it. */
const KEPT_OPEN = 4

/**
 * For statements that a connection prepares once and keeps a plan for. One that is made while a table is
 * empty reads all of it, and is kept until the table is analyzed: that of what is owed, after 10,000 changes
 * (measured: 50 µs a delivery became 350). What is planned each time lifts it: store/connection/snapshot.ts.
 */
export const PREPARED = { enable_seqscan: 'off' } as const

export function createPool(options: PoolOptions): pg.Pool {
  const { url, applicationName, statementTimeoutMs = STATEMENT_MS_MAX } = options
  const finder = new HostFinder(addressOf(url).urls)
  class PooledClient extends SessionClient {
    constructor() {
      super({
        url,
        applicationName,
        finder,
        settings: {
          ...PREPARED,
          statement_timeout: statementTimeoutMs,
          idle_in_transaction_session_timeout: 30_000,
        },
        queryTimeoutMs: statementTimeoutMs + ANSWER_MARGIN_MS,
        // Statements that do not wait for each other's results travel together.
        pipeline: true,
      })
    }
  }
  const pool = new FirstFreePool({
    Client: PooledClient,
    max: options.connectionsMax,
    min: KEPT_OPEN,
    // For a free connection, and for a new one: after this long the caller gets an error.
    connectionTimeoutMillis: connectMsMaxOf(url),
    idleTimeoutMillis: 60_000,
  })
  pool.on('error', options.onIdleError)
  const ask: AskServer = async (at, signal) => {
    const client = createClient(url, `${applicationName} asks`, {
      at,
      signal,
      mustTakeWrites: false,
    })
    try {
      await client.connect()
    } finally {
      void client.end().catch(() => {})
    }
  }
  watchForSilence(pool, ask)
  return pool
}

/**
 * One transaction; any error rolls it back, and a broken connection leaves the pool. The commit follows
 * when `run` has ended. Who can wait for it together with the last statements calls `commit` and saves a
 * round trip: after a statement that has failed, PostgreSQL takes a commit for a rollback.
 */
export async function inTransaction<T>(
  pool: pg.Pool,
  run: (db: Db, commit: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  let committing: Promise<void> | undefined
  const commit = () => {
    committing ??= client.query('commit').then(({ command }) => {
      if (command !== 'COMMIT') throw new Error('the transaction was rolled back')
    })
    return committing
  }
  try {
    const [, result] = await Promise.all([client.query('begin'), run(client, commit)])
    await commit()
    return result
  } catch (error) {
    // When even the rollback fails, the connection is in an unknown state: destroy it.
    await client.query('rollback').catch((failure: Error) => {
      broken = failure
    })
    // A server that has become a standby stays one. The next connection may lead elsewhere.
    if (isReadOnlyError(error)) broken = error as Error
    throw error
  } finally {
    client.release(broken)
  }
}

// Classes of SQLSTATE (PostgreSQL, appendix A) that say "not now" rather than "wrong statement".
const AWAY_CLASSES = ['08', '53', '57', '58', 'XX']
const AWAY_CODES = new Set([
  '25006', // a write on a standby, or on a database that is set to read-only
  '25P03', // idle in transaction timeout
  '25P04', // transaction timeout
  '40001', // serialization failure
  '40003', // whether the statement was completed is not known
  '40P01', // deadlock
  '55P03', // lock not available
])
const AWAY_ERRNO = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT', // the embedded server's socket is gone
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
])
const AWAY_MESSAGE =
  /connection terminated|timeout exceeded when trying to connect|timeout expired|query read timeout|client has encountered a connection error|not queryable|cannot use a pool after calling end/i

/** True for a statement that took longer than it may: asked for less, the database would have answered. */
export function isOverTime(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === '57014'
}

/** True when the database could not be asked, as opposed to having refused what we asked. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof AggregateError) return error.errors.some(isDatabaseAway)
  const { code, syscall } = error as Error & { code?: unknown; syscall?: unknown }
  // A certificate that is not where the address says will not come by waiting.
  if (syscall === 'open') return false
  if (typeof code === 'string') {
    if (AWAY_CODES.has(code) || AWAY_ERRNO.has(code)) return true
    if (/^[0-9A-Z]{5}$/.test(code)) return AWAY_CLASSES.includes(code.slice(0, 2))
  }
  return AWAY_MESSAGE.test(error.message)
}

/** Of two transactions that waited for each other, this one was ended. The same again may do. */
export function isDeadlock(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === '40P01'
}

export function databaseAway(cause: unknown): ServiceError {
  return new ServiceError('database-away', 'The service cannot reach its database. Try again.', {
    retryAfterSeconds: 2,
    cause,
  })
}
