// The whole service in this process, on a database of its own: what a test file can start in a tenth of
// a second and look into from both sides, over real sockets and in the tables.

import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { pino } from 'pino'
import { createApp, type PaybellApp } from '../../server/app.ts'
import { loadConfig } from '../../server/config/config.ts'
import type { LeasePolicy } from '../../server/core/delivery/lease.ts'
import { onboardClient } from '../../server/operations/clients/onboard-client.ts'
import { openAccount } from '../../server/operations/clients/open-account.ts'
import { DemoReceivers } from '../../server/sandbox/demo-receivers.ts'
import { sandboxRoutes } from '../../server/sandbox/sandbox-routes.ts'
import type { Timing } from '../../server/timing.ts'
import { Caller, type SandboxFacts } from './caller.ts'
import { cloneDatabase, type TestDatabase } from './database.ts'
import type { Owner } from './owner.ts'
import { makeDataDir } from './sandbox.ts'
import { until } from './until.ts'

export { until } from './until.ts'

export interface PaybellOptions {
  /** Settings, as environment variables. */
  env?: Readonly<Record<string, string>>
  leasePolicy?: LeasePolicy
  /** Timing that settings do not reach, to be compressed. */
  timing?: Partial<Timing>
  /** Instead of a clone on the tests' own server. */
  database?: TestDatabase
  /** That of another cell. */
  masterKey?: Buffer
  /** Cells that stand behind one address have the same. */
  operatorKey?: string
  /** Gets every line of its log. */
  log?: (line: string) => void
  /** Another process on the same database, with the same keys, shares that one's clients. */
  beside?: Paybell
}

export interface Paybell extends SandboxFacts {
  app: PaybellApp
  database: TestDatabase
  /** The test's own connections, not the service's. */
  pool: Pool
  masterKey: Buffer
  /** In the name of the first client, for its first account. */
  caller: Caller
  stop(): Promise<void>
}

/** Leases so short that a dead process is replaced while a test waits; attempts must be short too. */
export const SHORT_LEASES: LeasePolicy = {
  leaseMs: 1_500,
  renewEveryMs: 100,
  attemptMsMax: 500,
  recordingMsMax: 100,
  processGoneAfterMs: 1_000,
  sign: { beatEveryMs: 100, provenMs: 400, endedMs: 500 },
}

export async function startPaybell(t: Owner, options: PaybellOptions = {}): Promise<Paybell> {
  const { beside } = options
  const database = beside?.database ?? options.database ?? (await cloneDatabase())
  const masterKey = beside?.masterKey ?? options.masterKey ?? randomBytes(32)
  const operatorKey =
    beside?.operatorKey ?? options.operatorKey ?? randomBytes(32).toString('base64url')
  const app = createApp({
    config: loadConfig('sandbox', { PORT: '0', ...options.env }),
    logger: options.log
      ? pino({ level: 'trace' }, { write: options.log })
      : pino({ level: process.env.PAYBELL_TEST_LOG ?? 'silent' }),
    databaseUrl: database.url,
    masterKeys: [masterKey],
    operatorKey,
    sandbox: sandboxRoutes(new DemoReceivers()),
    command: 'npx paybell',
    ...(options.leasePolicy ? { leasePolicy: options.leasePolicy } : {}),
    // A machine that is busy with other tests takes its time for what ends in a moment elsewhere.
    timing: { stopMsMax: 120_000, statementTimeoutMs: 60_000, ...options.timing },
  })
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= app.stop()
    return stopped
  }
  t.after(stop)
  await app.start()
  const facts = beside
    ? { ...factsOf(beside), baseUrl: app.baseUrl() }
    : await addClient({ app, operatorKey })
  return {
    ...facts,
    app,
    database,
    pool: database.pool,
    masterKey,
    caller: new Caller(facts),
    stop,
  }
}

/** A folder with the file that a sandbox would have left for commands and examples to find it by. */
export async function makeSandboxFile(t: Owner, facts: SandboxFacts): Promise<string> {
  const dir = await makeDataDir(t)
  await writeFile(join(dir, 'sandbox.json'), JSON.stringify(factsOf(facts)))
  return dir
}

/** One more client with an account of its own. */
export async function addClient(
  paybell: Pick<Paybell, 'app' | 'operatorKey'>,
  name = 'Test client',
): Promise<SandboxFacts> {
  const { deps } = paybell.app
  const { client, secret } = await onboardClient(deps, name)
  const account = await openAccount(deps, client.id, 'Main')
  return {
    baseUrl: paybell.app.baseUrl(),
    operatorKey: paybell.operatorKey,
    clientId: client.id,
    clientSecret: secret,
    accountId: account.id,
  }
}

/** One more account of a client: the same credentials, another AccountId. */
export async function addAccount(
  paybell: Pick<Paybell, 'app'>,
  of: SandboxFacts,
): Promise<SandboxFacts> {
  const account = await openAccount(paybell.app.deps, of.clientId, 'Another')
  return { ...of, accountId: account.id }
}

function factsOf(facts: SandboxFacts): SandboxFacts {
  const { baseUrl, operatorKey, clientId, clientSecret, accountId } = facts
  return { baseUrl, operatorKey, clientId, clientSecret, accountId }
}

export interface StoredDelivery {
  id: string
  eventId: string
  endpointId: string
  paymentId: string
  sequence: number
  state: string
  attempts: number
  deadlineAt: Date | null
  /** Null when it waits for its endpoint, or is final. */
  nextAttemptAt: Date | null
  lastOutcome: string | null
  lastStatus: number | null
}

/** Every delivery there is, or is of one endpoint, pending or final, oldest first. */
export async function readDeliveries(
  pool: Pool,
  endpointId: string | null = null,
): Promise<readonly StoredDelivery[]> {
  const { rows } = await pool.query<StoredDelivery>(
    `
    select id, event_id as "eventId", endpoint_id as "endpointId", payment_id as "paymentId", sequence,
      state, attempts, deadline_at as "deadlineAt", next_attempt_at as "nextAttemptAt",
      last_outcome as "lastOutcome", last_status as "lastStatus"
    from (
      select id, event_id, endpoint_id, payment_id, sequence, 'PENDING' as state, attempts, deadline_at,
        next_attempt_at, last_outcome, last_status, created_at from pending_deliveries
      union all
      select id, event_id, endpoint_id, payment_id, sequence, state, attempts, deadline_at,
        null, last_outcome, last_status, created_at from final_deliveries) as d
    where $1::uuid is null or endpoint_id = $1
    order by created_at, payment_id, sequence`,
    [endpointId],
  )
  return rows
}

/** Waits until every delivery is in one of these states. */
export function untilAllAre(
  pool: Pool,
  states: readonly string[],
  limitMs?: number,
): Promise<readonly StoredDelivery[]> {
  return until(
    `all deliveries ${states.join(' or ')}`,
    async () => {
      const deliveries = await readDeliveries(pool)
      return deliveries.every(({ state }) => states.includes(state)) && deliveries
    },
    limitMs,
  )
}
