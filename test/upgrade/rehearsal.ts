// An upgrade as docs/operations.md tells to do it, under load: processes of the version before, the schema
// migrated beside them, processes replaced one by one, back to the version before on the newer schema, and
// forward again. At last, what has no way back: secrets are resealed under derived keys and bound to their addresses.

import { randomBytes } from 'node:crypto'
import { createPool } from '../../server/store/connection/db.ts'
import type { Owner } from '../support/owner.ts'
import { until } from '../support/until.ts'
import { Interface } from './interface.ts'
import { type Judgement, judge, readRecorded } from './judgement.ts'
import { Processes, type Version } from './processes.ts'
import { CA_FILE, Receivers } from './receiver.ts'
import { unpackVersionBefore } from './version-before.ts'
import { Writers } from './writers.ts'

export interface RehearsalOptions {
  /** An empty database. */
  databaseUrl: string
  /** Of each version, side by side. */
  processes: number
  endpoints: number
  /** Payments that are written at any time. */
  writers: number
  /** Callbacks that have to arrive between two steps. */
  callbacksPerStep: number
  /** One process of each version dies in the middle. */
  kills: boolean
  onStep?: (line: string) => void
}

export interface Rehearsal extends Judgement {
  figures: Record<string, number | string>
}

const SHARED_KEY = 'an upgrade loses nothing'

export async function rehearse(t: Owner, options: RehearsalOptions): Promise<Rehearsal> {
  const tell = options.onStep ?? (() => {})
  const receivers = new Receivers(SHARED_KEY)
  await receivers.listen()
  t.after(() => receivers.close())
  const pool = createPool({
    url: options.databaseUrl,
    connectionsMax: 8,
    onIdleError: () => {},
    applicationName: 'a rehearsal',
  })
  t.after(() => pool.end())
  const operatorKey = randomBytes(32).toString('base64url')
  const processes = new Processes(
    unpackVersionBefore(t),
    {
      PORT: '0',
      DATABASE_URL: options.databaseUrl,
      PAYBELL_MASTER_KEY: randomBytes(32).toString('base64'),
      PAYBELL_OPERATOR_KEY: operatorKey,
      PAYBELL_ALLOWED_NETWORKS: '127.0.0.0/8',
      PAYBELL_EXTRA_CA_FILE: CA_FILE,
      PAYBELL_DRAIN_SECONDS: '0',
    },
    pool,
  )
  t.after(() => processes.endAll())
  const startAll = async (version: Version) => {
    for (let n = 0; n < options.processes; n++) await processes.start(version)
  }

  tell('the version before, on its own schema')
  await startAll('old')
  const callers = new Interface(processes, operatorKey)
  const accountId = await callers.takeClient()
  for (let n = 0; n < options.endpoints; n++) await callers.register(receivers.url(n), SHARED_KEY)
  const writers = new Writers({ processes, pool, accountId, operatorKey, side: options.writers })
  writers.start()
  /** Some more arrive: what runs now has accepted and sent. */
  const settle = async () => {
    const enough = receivers.accepted + options.callbacksPerStep
    await until('callbacks arrive', () => receivers.accepted >= enough, 60_000)
    await callers.assertTokensWork()
  }
  const replace = async (from: Version, to: Version) => {
    for (const one of [...processes.running].filter(({ version }) => version === from)) {
      await processes.start(to)
      await settle()
      await processes.end(one)
    }
    await settle()
  }
  const reseal = () => processes.run('new', 'reseal', '--json')
  const killOne = async (version: Version) => {
    const one = [...processes.running].find((served) => served.version === version)
    if (!options.kills || one === undefined) return
    tell(`a process of the ${version} version dies`)
    await processes.end(one, 'SIGKILL')
    await processes.start(version)
  }
  await settle()

  tell('the schema is migrated beside them')
  const migratedAt = performance.now()
  await processes.run('new', 'migrate')
  const migrateMs = performance.now() - migratedAt
  await settle()

  tell('forward, one process after the other')
  await replace('old', 'new')
  await killOne('new')

  tell('back to the version before, on the newer schema')
  await replace('new', 'old')
  await killOne('old')

  tell('and forward again')
  await replace('old', 'new')

  tell('secrets are bound to their addresses')
  // One that was killed counts as alive for a while.
  await until('no other version lives', async () => isBound(await reseal()), 180_000)
  await settle()

  await writers.stop()
  await until(
    'nothing is owed any more',
    async () => {
      const { rows } = await pool.query('select from paybell.pending_deliveries limit 1')
      return rows.length === 0
    },
    120_000,
  )
  const recorded = await readRecorded(pool)
  const judgement = judge({
    acknowledged: writers.acknowledged,
    recorded,
    arrivals: receivers.arrivals,
    endpoints: Array.from({ length: options.endpoints }, (_, n) => `/${n}`),
    mayRepeat: options.kills,
  })
  return {
    ...judgement,
    figures: {
      'writes acknowledged': writers.count,
      'callbacks accepted': receivers.accepted,
      'first attempts refused': receivers.arrivals.length - receivers.accepted,
      'sent again after a 200': judgement.repeated,
      'writes refused and repeated': [...writers.refusals].map((one) => one.join(': ')).join(', '),
      'slowest write, ms': Math.round(writers.slowestMs),
      'migrate, ms': Math.round(migrateMs),
    },
  }
}

function isBound(printed: string): boolean {
  return printed.includes('"binding":"done"')
}
