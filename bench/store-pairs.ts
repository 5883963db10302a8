// node bench/store-pairs.ts <folder of another checkout>: what accepting and recording cost PostgreSQL there and
// here, in CPU of the backend and in write-ahead log. Both run on one server, in turns (there, here, here,
// there), each on a database and a connection of its own, so that a busy machine disturbs both alike. Figures are the
// least, the first quarter and the median of the rounds.

import { randomBytes, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type pg from 'pg'
import type { HandedOff } from '../server/core/delivery/queued-delivery.ts'
import type { PaymentChange } from '../server/operations/accepting/record-payments.ts'
import { BenchDatabase } from './harness/database.ts'
import { lowerHalf } from './harness/statistics.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '6' },
    /** Of 500 changes each, in one round. */
    batches: { type: 'string', default: '20' },
    /** One change each, in one round. */
    lone: { type: 'string', default: '200' },
    endpoints: { type: 'string', default: '10' },
    /** What the whole server uses, autovacuum included; otherwise there is none. */
    autovacuum: { type: 'boolean', default: false },
  },
})

/** From the other checkout, or from this one: the modules have the same names in both. */
async function load(root: string) {
  const folder = resolve(root)
  const from = (path: string) => import(join(folder, path))
  return {
    ...((await from('bench/paybell/prepare.ts')) as typeof import('./paybell/prepare.ts')),
    ...((await from('bench/harness/payments.ts')) as typeof import('./harness/payments.ts')),
    ...((await from('server/core/plain/uuid.ts')) as typeof import('../server/core/plain/uuid.ts')),
    ...((await from(
      'server/core/plain/exact-json.ts',
    )) as typeof import('../server/core/plain/exact-json.ts')),
    ...((await from(
      'server/core/payments/payment-fields.ts',
    )) as typeof import('../server/core/payments/payment-fields.ts')),
    ...((await from(
      'server/operations/access/account-directory.ts',
    )) as typeof import('../server/operations/access/account-directory.ts')),
    ...((await from(
      'server/operations/accepting/postgres-payment-store.ts',
    )) as typeof import('../server/operations/accepting/postgres-payment-store.ts')),
    ...((await from(
      'server/operations/accepting/record-payments.ts',
    )) as typeof import('../server/operations/accepting/record-payments.ts')),
    ...((await from(
      'server/store/connection/db.ts',
    )) as typeof import('../server/store/connection/db.ts')),
    ...((await from(
      'server/store/owed/leases.ts',
    )) as typeof import('../server/store/owed/leases.ts')),
    ...((await from(
      'server/store/owed/outcomes.ts',
    )) as typeof import('../server/store/owed/outcomes.ts')),
  }
}
type Code = Awaited<ReturnType<typeof load>>

interface Cost {
  cpuUs: number
  nodeUs: number
  walBytes: number
}

class Side {
  readonly #code: Code
  readonly #pool: pg.Pool
  readonly #accountIds: readonly string[]
  readonly #recording: ReturnType<Code['recordingOn']>
  readonly #maker: InstanceType<Code['PaymentMaker']>
  readonly costs = new Map<string, Cost[]>()
  #epochs = new Map<number, number>()
  #pid = 0
  #number = 0

  private constructor(code: Code, pool: pg.Pool, accountIds: readonly string[]) {
    this.#code = code
    this.#pool = pool
    this.#accountIds = accountIds
    this.#maker = new code.PaymentMaker(randomUUID())
    const ids = new code.UuidMaker(() => Date.now(), randomBytes)
    const clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() }
    const deps = { pool, clock, newId: () => ids.next() }
    this.#recording = code.recordingOn(deps, new code.AccountDirectory(pool))
  }

  static async prepare(code: Code, databaseUrl: string, endpoints: number): Promise<Side> {
    const { accountIds } = await code.preparePaybell({
      databaseUrl,
      masterKey: randomBytes(32),
      receiverUrl: 'https://receiver.example',
      endpoints,
    })
    const pool = code.createPool({
      url: databaseUrl,
      connectionsMax: 1,
      onIdleError: () => {},
      applicationName: 'paybell pairs',
    })
    const side = new Side(code, pool, accountIds)
    const held = await code.takeLeases(pool, randomUUID(), 64, 3_600_000, new Map())
    side.#epochs = new Map(held.map(({ shard, epoch }) => [shard, epoch]))
    side.#pid = (await pool.query('select pg_backend_pid() as pid')).rows[0].pid
    return side
  }

  async round(kind: string, size: number, count: number): Promise<void> {
    const batches = Array.from({ length: count }, () => this.#changes(size))
    const accepted: (readonly HandedOff[])[] = []
    await this.#measure(`${kind} accept`, size * count, async () => {
      for (const batch of batches) {
        const { deliveries } = await this.#code.recordPayments(this.#recording, batch)
        accepted.push(deliveries)
      }
    })
    await this.#measure(`${kind} record`, size * count, async () => {
      for (const deliveries of accepted) await this.#record(deliveries)
    })
  }

  end(): Promise<void> {
    return this.#pool.end()
  }

  async #measure(what: string, events: number, run: () => Promise<void>): Promise<void> {
    const walBefore = await this.#walBytes()
    const cpuBefore = backendCpuUs(this.#pid)
    const nodeBefore = process.cpuUsage()
    await run()
    const node = process.cpuUsage(nodeBefore)
    const cpuUs = (backendCpuUs(this.#pid) - cpuBefore) / events
    const walBytes = ((await this.#walBytes()) - walBefore) / events
    const cost = { cpuUs, nodeUs: (node.user + node.system) / events, walBytes }
    this.costs.set(what, [...(this.costs.get(what) ?? []), cost])
  }

  #changes(size: number): PaymentChange[] {
    return Array.from({ length: size }, () => {
      const number = this.#number++
      const accountId = this.#accountIds[number % this.#accountIds.length] as string
      const { value, amountText } = this.#code.parseJson(
        Buffer.from(this.#maker.line(number, accountId)),
      )
      return this.#code.parsePaymentLine(value, amountText)
    })
  }

  async #record(deliveries: readonly HandedOff[]): Promise<void> {
    const atMs = Date.now()
    const records = deliveries.map((delivery) => ({
      ...delivery,
      epoch: this.#epochs.get(delivery.shard) ?? 0,
      attempt: 1,
      runAttempt: 1,
      atMs,
      durationMs: 3,
      outcome: 'answered' as const,
      status: 200,
      excerpt: null,
      state: 'DELIVERED' as const,
      nextAttemptAtMs: null,
      firstAttemptAtMs: atMs,
      firstFailedAtMs: null,
      deadlineAtMs: atMs + 1,
      supersedes: false,
    }))
    const recorded = await this.#code.recordOutcomes(this.#pool, records, new Date(atMs))
    if (recorded.ids.size !== deliveries.length) throw new Error('an outcome was not recorded')
  }

  async #walBytes(): Promise<number> {
    const { rows } = await this.#pool.query(
      `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text as bytes`,
    )
    return Number(rows[0].bytes)
  }
}

/** To the nanosecond, where /proc/<pid>/stat counts hundredths of a second. */
function backendCpuUs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1_000
}

const here = fileURLToPath(new URL('..', import.meta.url))
const roots = [positionals[0] ?? here, positionals[1] ?? here]
/** With autovacuum each side has a server of its own: only so is it known on whose account a worker runs. */
const databases = [await BenchDatabase.start()]
if (values.autovacuum) databases.push(await BenchDatabase.start())
try {
  const [first, second = first] = databases as [BenchDatabase, BenchDatabase?]
  const there = await prepareSide(0, first)
  const hither = await prepareSide(1, second)
  for (const side of [there, hither]) await runRound(side)
  for (const database of databases) await database.checkpoint()
  for (const side of [there, hither]) side.costs.clear()
  const before = [serverCost(first), serverCost(second)]
  for (let number = 0; number < Number(values.rounds); number++) {
    for (const side of [there, hither, hither, there]) await runRound(side)
  }
  for (const what of there.costs.keys()) {
    for (const key of ['cpuUs', 'nodeUs', 'walBytes'] as const) {
      const of = (side: Side) => (side.costs.get(what) ?? []).map((cost) => cost[key])
      report(`${what} ${key}`, of(there), of(hither))
    }
  }
  if (values.autovacuum) {
    const events = 2 * Number(values.rounds) * (500 * Number(values.batches) + Number(values.lone))
    // Its workers come every ten seconds.
    await delay(25_000)
    const [old, now] = [serverCost(first), serverCost(second)].map(
      (cpuUs, index) => (cpuUs - (before[index] as number)) / events,
    )
    report('whole server cpuUs', [old as number], [now as number])
  }
  for (const side of [there, hither]) await side.end()
} finally {
  for (const database of databases) await database.stop()
}

async function prepareSide(index: number, database: BenchDatabase): Promise<Side> {
  if (!values.autovacuum) {
    await database.query('alter system set autovacuum = off')
    await database.query('select pg_reload_conf()')
  }
  await database.query(`create database side_${index}`)
  const url = new URL(database.url)
  url.pathname = `/side_${index}`
  const code = await load(roots[index] as string)
  return Side.prepare(code, String(url), Number(values.endpoints))
}

async function runRound(side: Side): Promise<void> {
  await side.round('batch', 500, Number(values.batches))
  await side.round('lone', 1, Number(values.lone))
}

function serverCost(database: BenchDatabase): number {
  return database.cpuSeconds() * 1_000_000
}

function report(what: string, before: readonly number[], after: readonly number[]): void {
  const [old, now] = [lowerHalf(before), lowerHalf(after)]
  const show = (figures: readonly number[], digits: number) =>
    figures.map((figure) => figure.toFixed(digits)).join(', ')
  const ratios = now.map((figure, index) => figure / (old[index] as number))
  const [was, is] = [show(old, 1).padEnd(24), show(now, 1).padEnd(24)]
  console.log(`${what.padEnd(22)} ${was} → ${is} × ${show(ratios, 2)}`)
}
