// A fresh PostgreSQL for each cell: the one that comes with Paybell, with its settings, for every
// system. Counts what the cell did to it: write-ahead log, flushes, transactions.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { type EmbeddedDatabase, startEmbedded } from '../../server/embedded/database.ts'
import { treeCpuSeconds } from './cpu.ts'

export interface WriteCounts {
  walBytes: number
  walFsyncs: number
  transactions: number
}

/** For programs of others: pools that are larger than ours, drivers that take no socket. */
export interface DatabaseOptions {
  maxConnections?: number
  isOnTcp?: boolean
}

export class BenchDatabase {
  readonly dir: string
  readonly #embedded: EmbeddedDatabase
  readonly #client: pg.Client

  private constructor(dir: string, embedded: EmbeddedDatabase, client: pg.Client) {
    this.dir = dir
    this.#embedded = embedded
    this.#client = client
  }

  /** With `isCounting`, every statement's time is counted too, which costs a little itself. */
  static async start(isCounting = false, options: DatabaseOptions = {}): Promise<BenchDatabase> {
    const dir = await mkdtemp(join(tmpdir(), 'paybell-bench-'))
    const embedded = await startEmbedded({ dataDir: dir, log: () => {}, ...options })
    let client = await connect(embedded.url)
    if (isCounting) {
      await client.query(`alter system set shared_preload_libraries = 'pg_stat_statements'`)
      await client.end()
      await embedded.restart()
      client = await connect(embedded.url)
      await client.query('create extension pg_stat_statements')
    }
    return new BenchDatabase(dir, embedded, client)
  }

  get url(): string {
    return this.#embedded.url
  }

  get version(): string {
    return this.#embedded.version
  }

  async query<R extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<R[]> {
    return (await this.#client.query<R>(text, values)).rows
  }

  cpuSeconds(): number {
    return this.#embedded.pid === undefined ? 0 : treeCpuSeconds(this.#embedded.pid)
  }

  /** So that no cell pays for what the cell's preparation has dirtied. */
  async checkpoint(): Promise<void> {
    await this.#client.query('checkpoint')
  }

  async writeCounts(): Promise<WriteCounts> {
    // Backends report at most once a second, when they are idle: all that is counted here is there
    // once the cell has been quiet for that long.
    const [row] = await this.query<{ wal: string; fsyncs: string; commits: string }>(
      `select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text as wal,
         (select coalesce(sum(fsyncs), 0) from pg_stat_io where object = 'wal')::text as fsyncs,
         (select sum(xact_commit) from pg_stat_database)::text as commits`,
    )
    return {
      walBytes: Number(row?.wal),
      walFsyncs: Number(row?.fsyncs),
      transactions: Number(row?.commits),
    }
  }

  async stop(): Promise<void> {
    await this.#client.end().catch(() => {})
    await this.#embedded.stop()
    await rm(this.dir, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  return client
}
