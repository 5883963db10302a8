// The settings of the embedded PostgreSQL. Pure. They are given on the command line, so that a newer
// Paybell changes them without touching the cluster. Durability is never traded for speed: the sandbox
// keeps the same promise as production. A table of docs/operations.md says what production should set,
// and a test compares it with this file.

/** Where the server listens: never on a network that another machine could reach. */
export type Listening = { kind: 'socket'; dir: string } | { kind: 'tcp'; port: number }

export interface ServerSettings {
  /** Default: a quarter of the memory, up to 1 GB. */
  sharedBuffersMb?: number | undefined
  /** Default: 50. */
  maxConnections?: number | undefined
  /** For throw-away test clusters only: nothing waits for the disk, so that a power cut destroys the cluster,
   *  and nothing is vacuumed. */
  unsafeThrowAwayForTests?: boolean | undefined
}

const SUPERUSER = 'paybell'
const SOCKET_PORT = 5432
const MEGABYTE = 1024 * 1024

export function sharedBuffersMb(memoryBytes: number): number {
  return Math.max(16, Math.min(1024, Math.floor(memoryBytes / 4 / MEGABYTE)))
}

export function serverArguments(
  settings: ServerSettings,
  listening: Listening,
  memoryBytes: number,
): string[] {
  const values: Record<string, string | number> = {
    listen_addresses: listening.kind === 'tcp' ? '127.0.0.1' : '',
    unix_socket_directories: listening.kind === 'socket' ? listening.dir : '',
    unix_socket_permissions: '0700',
    port: listening.kind === 'tcp' ? listening.port : SOCKET_PORT,
    max_connections: settings.maxConnections ?? 50,
    shared_buffers: `${settings.sharedBuffersMb ?? sharedBuffersMb(memoryBytes)}MB`,
    wal_buffers: '16MB',
    max_wal_size: '4GB',
    checkpoint_timeout: '15min',
    // pglz, because this build knows neither lz4 nor zstd.
    wal_compression: 'pglz',
    jit: 'off',
    random_page_cost: 1.1,
    autovacuum_naptime: '10s',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Statements carry payments, so their text must not be logged.
    log_min_error_statement: 'panic',
    log_checkpoints: 'off',
    // Set explicitly, so that an edited postgresql.conf cannot switch them off.
    fsync: settings.unsafeThrowAwayForTests ? 'off' : 'on',
    full_page_writes: settings.unsafeThrowAwayForTests ? 'off' : 'on',
    synchronous_commit: 'on',
    ...(settings.unsafeThrowAwayForTests ? { autovacuum: 'off' } : {}),
  }
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

/** The host stands in the query, where `pg` and libpq both accept the folder of a Unix socket. */
export function connectionUrl(listening: Listening, password: string): string {
  const user = `${SUPERUSER}:${encodeURIComponent(password)}`
  return listening.kind === 'tcp'
    ? `postgres://${user}@127.0.0.1:${listening.port}/postgres`
    : `postgres://${user}@localhost:${SOCKET_PORT}/postgres?host=${encodeURIComponent(listening.dir)}`
}

/** The arguments of `initdb`. The built-in C.UTF-8 sorts by code point and depends on no system
 *  library, so that an upgrade of the machine can never break an index. */
export function initdbArguments(options: { folder: string; passwordFile: string; sync: boolean }) {
  return [
    ...['-D', options.folder, '--username', SUPERUSER, '--pwfile', options.passwordFile],
    ...['--auth', 'scram-sha-256', '--encoding', 'UTF8', '--locale', 'C'],
    ...['--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'],
    ...(options.sync ? [] : ['--no-sync']),
  ]
}
