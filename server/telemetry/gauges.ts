// Gauges: read when Prometheus asks, and not counted in between. Figures of this process, and figures of the
// database, which are the same from every process.

import { type Aggregator, Gauge, type Registry } from '@prometheus-io/client'
import { DELIVERY_STATES } from '../core/delivery/delivery.ts'
import { ENDPOINT_STATUSES } from '../core/delivery/endpoint.ts'
import type { DatabaseGauges } from '../store/history/service-figures.ts'

/** Where the figures come from. */
export interface GaugeSources {
  engine: {
    readonly inFlight: number
    readonly inMemory: number
    readonly shards: readonly number[]
    readonly awaitedShards: number
    readonly hasSign: boolean
  }
  pool: {
    readonly totalCount: number
    readonly idleCount: number
    readonly waitingCount: number
  }
  /** One for each broker that is set. */
  sources: readonly {
    readonly broker: BrokerName
    readonly isConsuming: boolean
    readonly lag: number
  }[]
  nowMs(): number
  database(): Promise<DatabaseGauges | null>
  isReady(): Promise<boolean>
  /** By the kind of keys; null where they could not be read. */
  untrustedKeys(): Promise<ReadonlyMap<string, number | null>>
  /** Someone has changed in the database how far binding to addresses is. */
  isMarkWrong(): boolean
}

const BROKER_GAUGES = {
  nats: {
    consuming: 'paybell_nats_consuming',
    consumingHelp: 'Whether this process is the one that takes payment changes from NATS: 1 or 0.',
    lag: 'paybell_nats_lag_messages',
    lagHelp:
      'Messages of NATS that this process still has to record; 0 where another one consumes.',
  },
  kafka: {
    consuming: 'paybell_kafka_consuming',
    consumingHelp: 'Whether this process takes payment changes from partitions of Kafka: 1 or 0.',
    lag: 'paybell_kafka_lag_records',
    lagHelp:
      'Records in this process’s partitions of Kafka that are not yet on disk or a dead letter.',
  },
} as const

export type BrokerName = keyof typeof BROKER_GAUGES

type Collect = (gauge: Gauge<string>) => void | Promise<void>
/** `joined`: what stands for several processes of one parent. */
type AddGauge = (
  name: string,
  help: string,
  labelNames: readonly string[],
  collect: Collect,
  joined: Aggregator,
) => void

export function addGauges(
  registry: Registry,
  version: string,
  sources: GaugeSources,
  heartbeatAtMs: () => number,
): void {
  const gauge: AddGauge = (name, help, labelNames, collect, aggregator) => {
    const made: Gauge<string> = new Gauge({
      name,
      help,
      labelNames: [...labelNames],
      registers: [registry],
      collect: () => collect(made),
      aggregator,
    })
  }
  gauge(
    'paybell_build_info',
    'Always 1; says what is running.',
    ['version', 'node'],
    (one) => one.set({ version, node: process.version }, 1),
    'max',
  )
  addProcessGauges(sources, heartbeatAtMs, gauge)
  addDatabaseGauges(sources, gauge)
}

function addProcessGauges(
  { engine, pool, sources, isReady }: GaugeSources,
  heartbeatAtMs: () => number,
  gauge: AddGauge,
): void {
  let utilization = performance.eventLoopUtilization()
  gauge(
    'paybell_deliveries_in_flight',
    'Attempts under way.',
    [],
    (one) => one.set(engine.inFlight),
    'sum',
  )
  gauge(
    'paybell_deliveries_in_memory',
    'Deliveries held in memory.',
    [],
    (one) => one.set(engine.inMemory),
    'sum',
  )
  gauge(
    'paybell_shards_held',
    'Shards that this process sends for.',
    [],
    (one) => one.set(engine.shards.length),
    'sum',
  )
  gauge(
    'paybell_shards_awaited',
    'Shards whose process shows no life: this process waits for their leases to run out.',
    [],
    (one) => one.set(engine.awaitedShards),
    'max',
  )
  gauge(
    'paybell_session_sign',
    'Whether the others would know this process to be dead by the end of its session: 1 or 0.',
    [],
    (one) => one.set(engine.hasSign ? 1 : 0),
    'min',
  )
  gauge(
    'paybell_worker_last_heartbeat_timestamp_seconds',
    'When this process last renewed its leases, by the clock of the database.',
    [],
    (one) => one.set(heartbeatAtMs() / 1_000),
    'min',
  )
  gauge(
    'paybell_db_pool_connections',
    'Connections to the database.',
    ['state'],
    (one) => {
      one.set({ state: 'active' }, pool.totalCount - pool.idleCount)
      one.set({ state: 'idle' }, pool.idleCount)
      one.set({ state: 'waiting' }, pool.waitingCount)
    },
    'sum',
  )
  gauge(
    'paybell_event_loop_utilization_ratio',
    'The share of time since the last look in which the event loop was busy.',
    [],
    (one) => {
      const now = performance.eventLoopUtilization()
      one.set(performance.eventLoopUtilization(now, utilization).utilization)
      utilization = now
    },
    'max',
  )
  for (const source of sources) {
    const { consuming, consumingHelp, lag, lagHelp } = BROKER_GAUGES[source.broker]
    gauge(consuming, consumingHelp, [], (one) => one.set(source.isConsuming ? 1 : 0), 'max')
    gauge(lag, lagHelp, [], (one) => one.set(source.lag), 'sum')
  }
  gauge(
    'paybell_ready',
    'Whether /readyz would say yes: 1 or 0.',
    [],
    async (one) => one.set((await isReady()) ? 1 : 0),
    'max',
  )
}

/** The same from every process, since they come from the database: read them with max(), not sum(), as we do. */
function addDatabaseGauges(
  { database, nowMs, untrustedKeys, isMarkWrong }: GaugeSources,
  gauge: AddGauge,
): void {
  /** Sets nothing while the database is away, because an old figure would look current. */
  const fromDatabase = (
    name: string,
    help: string,
    labelNames: readonly string[],
    set: (one: Gauge<string>, gauges: DatabaseGauges) => void,
  ) =>
    gauge(
      name,
      help,
      labelNames,
      async (one) => {
        const gauges = await database()
        one.reset()
        if (gauges !== null) set(one, gauges)
        else if (labelNames.length === 0) one.remove()
      },
      'max',
    )
  gauge(
    'paybell_database_up',
    'Whether the database answered in time: 1 or 0.',
    [],
    async (one) => one.set((await database()) === null ? 0 : 1),
    'min',
  )
  fromDatabase(
    'paybell_deliveries',
    'Deliveries by state. PENDING is counted, up to about a million each of due, scheduled and paused; final ones are estimated by the planner.',
    ['state'],
    (one, { due, scheduled, paused, ended }) => {
      for (const state of DELIVERY_STATES) {
        one.set({ state }, state === 'PENDING' ? due + scheduled + paused : (ended[state] ?? 0))
      }
    },
  )
  fromDatabase(
    'paybell_deliveries_pending',
    'Deliveries that are owed: due now, scheduled for later, or waiting for their endpoint.',
    ['state'],
    (one, { due, scheduled, paused }) => {
      one.set({ state: 'due' }, due)
      one.set({ state: 'scheduled' }, scheduled)
      one.set({ state: 'paused' }, paused)
    },
  )
  fromDatabase(
    'paybell_delivery_oldest_due_age_seconds',
    'For how long the oldest due delivery has been due; 0 when none is.',
    [],
    (one, { oldestDueAtMs }) =>
      one.set(oldestDueAtMs === null ? 0 : Math.max(0, nowMs() - oldestDueAtMs) / 1_000),
  )
  for (const [name, kind] of [
    ['paybell_webhooks', 'webhook'],
    ['paybell_subscriptions', 'subscription'],
    ['paybell_listeners', 'listener'],
  ] as const) {
    fromDatabase(name, `Endpoints made as a ${kind}.`, ['status'], (one, { endpoints }) => {
      for (const status of ENDPOINT_STATUSES) {
        const found = endpoints.find((of) => of.kind === kind && of.status === status)
        one.set({ status }, found?.count ?? 0)
      }
    })
  }
  fromDatabase(
    'paybell_partitions_ahead_days',
    'Days after today whose partitions have been made already.',
    [],
    (one, { partitionDaysAhead }) => one.set(partitionDaysAhead),
  )
  fromDatabase(
    'paybell_audit_unsealed_age_seconds',
    'For how long the oldest entry of the audit may have waited for its seal; about 60 at the most.',
    [],
    (one, { auditSealedThroughMs }) =>
      one.set(
        auditSealedThroughMs === null ? 0 : Math.max(0, nowMs() - auditSealedThroughMs) / 1_000,
      ),
  )
  fromDatabase(
    'paybell_default_partition_rows',
    'Rows that no partition was there for, by table, counted up to 100,000; upkeep moves them out.',
    ['table'],
    (one, { defaultRows }) => {
      for (const [table, rows] of Object.entries(defaultRows)) one.set({ table }, rows)
    },
  )
  fromDatabase(
    'paybell_client_certificate_expiry_seconds',
    'How long until a certificate that receivers are shown ends, by its name; below 0 once it has ended.',
    ['name'],
    (one, { certificateEndsMs }) => {
      for (const [name, endsMs] of Object.entries(certificateEndsMs)) {
        one.set({ name }, (endsMs - nowMs()) / 1_000)
      }
    },
  )
  gauge(
    'paybell_untrusted_keys',
    'Keys in the database that are not authenticated with the master key, and so are not trusted; should be 0.',
    ['keys'],
    async (one) => {
      const counts = await untrustedKeys()
      one.reset()
      for (const [keys, count] of counts) if (count !== null) one.set({ keys }, count)
    },
    'max',
  )
  gauge(
    'paybell_sealing_mark_wrong',
    'Whether the mark that secrets are bound to addresses was changed or removed in the database: 1 or 0.',
    [],
    (one) => one.set(isMarkWrong() ? 1 : 0),
    'max',
  )
}
