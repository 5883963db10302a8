// A connection as all of ours are: it has found a host that takes writes, where there are several, and
// its settings are in force before anything else is asked of it. They are set by statements, not sent
// with the start of the connection, because PgBouncer refuses those; and they are set each time, because
// what our statements need must not depend on how a server, a database or a role happens to be set.

import pg from 'pg'
import { schemaOfCell } from '../../core/network/cell.ts'
import { type DatabaseAddress, parseDatabaseUrl } from '../../core/network/database-url.ts'
import { type Host, HostFinder } from './hosts.ts'
import { IS_READ_ONLY, readOnlyError } from './read-only.ts'

/** Until a connection is open and set up, unless the address says otherwise (`connect_timeout`). With what a silent
 *  server takes, it stays below 10 s. */
export const CONNECT_MS_MAX = 4_000

/** In force in every session of ours. docs/operations.md has the table of all that matters. */
export const SESSION = {
  // PostgreSQL compiles whatever costs more than 10^5, at each execution: 0.3 to 4 s for a statement that
  // takes 3 ms. Before version 18, a plan that reads a table although it should not costs 10^10.
  jit: 'off',
  // The plans that were measured are the plans that production gets.
  random_page_cost: '1.1',
  timezone: 'UTC',
  // The driver reads no other.
  datestyle: 'ISO, MDY',
  // Conflicts are locked out, not found out at the commit.
  default_transaction_isolation: 'read committed',
} as const

/**
 * A host that is gone says nothing: without these, PostgreSQL's own defaults keep its sessions, with all that they have
 * locked, for more than two hours. Over a Unix socket they do nothing. Our own end asks as soon, and ten times.
 */
const KEEPALIVES = {
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 25_000,
} as const
const KEEPALIVE_FIRST_MS = 10_000

/** What every session of a cell is set to. Locks are taken in its name (store/connection/locks.ts). */
export function sessionOf(cell: number): Readonly<Record<string, string>> {
  return { search_path: schemaOfCell(cell), 'paybell.cell': String(cell), ...SESSION }
}

export interface SessionOptions {
  url: string
  applicationName: string
  /** Besides those of every session. */
  settings?: Readonly<Record<string, string | number>>
  queryTimeoutMs?: number
  pipeline?: boolean
  /** Refuses a database that takes no writes. By default only where there is another host to try. */
  mustTakeWrites?: boolean
  /** Shared by connections that are opened together; without it each looks for itself. */
  finder?: HostFinder
  /** This host and no other. */
  at?: Host
  /** Gives up connecting. */
  signal?: AbortSignal
}

export function addressOf(url: string): DatabaseAddress {
  const address = parseDatabaseUrl(url)
  if (address === undefined) throw new Error('the address of the database is invalid')
  return address
}

export function connectMsMaxOf(url: string): number {
  return addressOf(url).connectMsMax ?? CONNECT_MS_MAX
}

export class SessionClient extends pg.Client {
  readonly #options: SessionOptions
  readonly #finder: HostFinder | null
  readonly #mustTakeWrites: boolean
  readonly #cell: number
  #isLate = false

  constructor(options: SessionOptions) {
    const { urls, mustTakeWrites, cell } = addressOf(options.url)
    super({
      connectionString: urls[0],
      application_name: options.applicationName,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEPALIVE_FIRST_MS,
      pipeline: options.pipeline ?? false,
      query_timeout: options.queryTimeoutMs,
    })
    this.#options = options
    this.#cell = cell
    this.#mustTakeWrites = options.mustTakeWrites ?? mustTakeWrites
    this.#finder =
      urls.length > 1 && options.at === undefined ? (options.finder ?? new HostFinder(urls)) : null
    // A connection that breaks tells its statement, and then all who listen: without a listener that
    // would end the process.
    this.on('error', () => {})
  }

  override connect(): Promise<pg.Client>
  override connect(callback: (error: Error | null, client?: pg.Client) => void): void
  override connect(
    callback?: (error: Error | null, client?: pg.Client) => void,
  ): Promise<pg.Client> | undefined {
    const opened = this.#open()
    if (callback === undefined) return opened
    opened.then(
      () => callback(null, this),
      (error) => callback(error),
    )
    return undefined
  }

  async #open(): Promise<pg.Client> {
    const { signal } = this.#options
    const giveUp = () => this.connection.stream.destroy()
    const timer = setTimeout(() => {
      this.#isLate = true
      giveUp()
    }, connectMsMaxOf(this.#options.url))
    signal?.addEventListener('abort', giveUp, { once: true })
    try {
      const host = this.#options.at ?? (await this.#finder?.find())
      if (host) Object.assign(this, host)
      signal?.throwIfAborted()
      await super.connect()
      await this.#prepare()
      return this
    } catch (error) {
      giveUp()
      if (!this.#isLate) throw error
      throw new Error('timeout exceeded when trying to connect', { cause: error })
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', giveUp)
    }
  }

  /** One string is one round trip. */
  async #prepare(): Promise<void> {
    const settings = Object.entries({
      ...sessionOf(this.#cell),
      ...KEEPALIVES,
      ...this.#options.settings,
    }).map(([name, value]) => `set ${name} = ${pg.escapeLiteral(String(value))}`)
    const results = (await super.query(
      [...settings, IS_READ_ONLY].join(';\n'),
    )) as unknown as pg.QueryResult<{ read_only: boolean }>[]
    const isReadOnly = results.at(-1)?.rows[0]?.read_only
    if (isReadOnly && this.#mustTakeWrites) throw readOnlyError(this.host)
  }
}

/** Not connected yet, so that listeners can be there before anything happens. */
export function createClient(
  url: string,
  applicationName: string,
  options: Omit<SessionOptions, 'url' | 'applicationName'> = {},
): pg.Client {
  return new SessionClient({ url, applicationName, ...options })
}
