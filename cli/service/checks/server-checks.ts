// The checks of `paybell doctor` that concern PostgreSQL itself: whether it takes writes, whether each of
// our sessions is ours alone, and whether it is large enough for what a process asks of it.

import type { ServerFacts, ServerSetting } from '../../../server/store/schema/inspect-server.ts'
import type { Check } from '../../basics/doctor-check.ts'
import { formatCount, plural } from '../../basics/terminal.ts'

/** What the settings say of the service, or their defaults where they do not conform. */
export interface ServiceSize {
  connections: number
  /** That one command starts. */
  processes: number
  retentionDays: number
}

/** Besides the shared ones: wake-ups, the sign of life, the session lock of the NATS source, a probe of a silent server. */
const CONNECTIONS_BESIDES = 4
/** Partitions are made a week ahead. */
const DAYS_AHEAD = 8

/** What Paybell was measured with, where a stock PostgreSQL differs. */
const MEASURED_WITH: Partial<Record<ServerSetting, string>> = {
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  wal_compression: 'pglz',
  autovacuum_naptime: '10s',
}

export function* checkServer(facts: ServerFacts, size: ServiceSize): Generator<Check> {
  yield checkWrites(facts)
  yield checkSessions(facts)
  yield checkConnections(facts, size)
  yield checkLocks(facts, size)
  yield checkTuning(facts)
}

function checkWrites({ isReadOnly }: ServerFacts): Check {
  return isReadOnly
    ? {
        name: 'writes',
        status: 'failed',
        detail: 'the database takes no writes: it is a standby, or set to read-only',
        remedy:
          'Name all hosts in DATABASE_URL, so that the primary is found, or let the address lead to it. A service that set itself to read-only is usually out of disk.',
      }
    : { name: 'writes', status: 'ok', detail: 'the database takes them' }
}

function checkSessions({ pooling, lostSettings }: ServerFacts): Check {
  if (pooling === 'transaction') {
    return {
      name: 'sessions',
      status: 'failed',
      detail: 'a pooler shares connections between transactions',
      remedy: 'Set pool_mode = session for Paybell, or let it connect without the pooler.',
    }
  }
  if (lostSettings.length > 0) {
    return {
      name: 'sessions',
      status: 'failed',
      detail: `settings of our sessions are not in force: ${lostSettings.join(', ')}`,
      remedy: 'Something between here and PostgreSQL resets them: connect without it.',
    }
  }
  const detail = 'set as they must be, jit off'
  return {
    name: 'sessions',
    status: 'ok',
    detail: pooling === 'session' ? `${detail}; through a pooler, in session mode` : detail,
  }
}

function checkConnections(facts: ServerFacts, { connections, processes }: ServiceSize): Check {
  const free =
    numberOf(facts, 'max_connections') - numberOf(facts, 'superuser_reserved_connections')
  const ofEach = connections + CONNECTIONS_BESIDES
  // While they are replaced, there is one more.
  const needed = processes === 1 ? ofEach : ofEach * (processes + 1)
  const detail =
    processes === 1
      ? `a process opens up to ${needed}, PostgreSQL has ${free}`
      : `${processes} processes, and one more while they are replaced, open up to ${needed}, PostgreSQL has ${free}`
  return needed <= free
    ? { name: 'connections', status: 'ok', detail }
    : {
        name: 'connections',
        status: 'warning',
        detail,
        remedy:
          processes === 1
            ? `Raise max_connections to ${needed} for each process and some for yourself, or lower PAYBELL_DATABASE_CONNECTIONS.`
            : `Raise max_connections to ${needed} and some for yourself, or lower PAYBELL_DATABASE_CONNECTIONS or PAYBELL_PROCESSES.`,
      }
}

/** What a list or a look-up locks at most: a few days of history with their indexes (store/sql/stretches.ts). */
const LOCKS_OF_A_LIST = 120
/** pg_dump locks every table: one of each kind for a day. */
const TABLES_A_DAY = 3

/**
 * PostgreSQL has room for max_locks_per_transaction × (max_connections + max_prepared_transactions) locks;
 * when that is full, statements fail with "out of shared memory", those of others, too.
 */
function checkLocks(facts: ServerFacts, size: ServiceSize): Check {
  const { connections, processes, retentionDays } = size
  const days = Math.max(facts.days, retentionDays + DAYS_AHEAD)
  const held = LOCKS_OF_A_LIST * connections * processes + TABLES_A_DAY * days
  const sessions = numberOf(facts, 'max_connections') + numberOf(facts, 'max_prepared_transactions')
  const configured = numberOf(facts, 'max_locks_per_transaction')
  const needed = Math.ceil(held / sessions)
  const those = processes === 1 ? 'a process' : `${processes} processes`
  const detail = `${those} and a pg_dump hold up to ${formatCount(held)} locks with ${plural(days, 'day')} of history`
  return needed <= configured
    ? { name: 'locks', status: 'ok', detail: `${detail}; there is room` }
    : {
        name: 'locks',
        status: 'warning',
        detail: `${detail}; max_locks_per_transaction is ${configured}, too few for them`,
        remedy: `Set max_locks_per_transaction = ${Math.ceil(needed / 64) * 64} and restart PostgreSQL, or keep fewer days: PAYBELL_RETENTION_DAYS.`,
      }
}

function checkTuning({ settings }: ServerFacts): Check {
  if (settings.get('autovacuum') !== 'on') {
    return {
      name: 'tuning',
      status: 'warning',
      detail: 'autovacuum is off',
      remedy: 'Turn it on: what has been delivered leaves rows behind that only vacuum removes.',
    }
  }
  const others = Object.entries(MEASURED_WITH)
    .map(([name, value]) => ({ name, value, found: settings.get(name as ServerSetting) }))
    .filter(({ name, value, found }) =>
      // Any compression will do; PostgreSQL calls the plain one by two names.
      name === 'wal_compression' ? found === 'off' : found !== value,
    )
  return {
    name: 'tuning',
    status: 'ok',
    detail:
      others.length === 0
        ? 'PostgreSQL is set as Paybell was measured'
        : `other than measured with: ${others.map(({ name, value, found }) => `${name} ${found} (${value})`).join(', ')}; see docs/operations.md`,
  }
}

function numberOf({ settings }: ServerFacts, name: ServerSetting): number {
  return Number(settings.get(name) ?? 0)
}
