// node test/measure/cluster-cpu.ts <folder> <address> <cell> <address> <cell> …: what accepting and recording cost each
// of these databases, in CPU of all processes of PostgreSQL whose data lie in folders of this one, Citus' workers
// included, and of each by itself. In turns, so that a busy machine disturbs all alike. `--batch 1` is for single changes.
// The cells have to be there; `paybell cells create` makes one.

import { randomBytes, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type pg from 'pg'
import { PaymentMaker } from '../../bench/harness/payments.ts'
import { preparePaybell } from '../../bench/paybell/prepare.ts'
import { addressOfCell } from '../../server/core/database-url.ts'
import { parseJson } from '../../server/core/exact-json.ts'
import { parsePaymentLine } from '../../server/core/payment-fields.ts'
import { UuidMaker } from '../../server/core/uuid.ts'
import { AccountDirectory } from '../../server/operations/parts/account-directory.ts'
import { recordingOn } from '../../server/operations/parts/postgres-payment-store.ts'
import { recordPayments } from '../../server/operations/record-payments.ts'
import { createPool } from '../../server/store/db.ts'
import { takeLeases } from '../../server/store/leases.ts'
import { recordOutcomes } from '../../server/store/outcomes.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '4' }, batch: { type: 'string', default: '250' } },
})
const ROUNDS = Number(values.rounds)
const BATCH = Number(values.batch)
/** In one round. */
const BATCHES = BATCH === 1 ? 300 : 20

interface Side {
  name: string
  pool: pg.Pool
  run(): Promise<number>
  costs: number[]
  /** Of all rounds, by server. */
  servers: Map<string, number>
  count: number
}

async function prepare(url: string, cell: number): Promise<Side> {
  const databaseUrl = addressOfCell(url, cell)
  const { accountIds } = await preparePaybell({
    databaseUrl,
    masterKey: randomBytes(32),
    receiverUrl: 'https://receiver.example',
    endpoints: 10,
  })
  const pool = createPool({
    url: databaseUrl,
    connectionsMax: 1,
    onIdleError: () => {},
    applicationName: 'paybell cluster-cpu',
  })
  const ids = new UuidMaker(() => Date.now(), randomBytes)
  const clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() }
  const recording = recordingOn(
    { pool, clock, newId: () => ids.next() },
    new AccountDirectory(pool),
  )
  // Of a run before.
  await pool.query('update leases set owner = null')
  const held = await takeLeases(pool, randomUUID(), 64, 3_600_000, new Map())
  const epochs = new Map(held.map(({ shard, epoch }) => [shard, epoch]))
  const maker = new PaymentMaker(randomUUID())
  let number = 0
  const run = async () => {
    let count = 0
    for (let batch = 0; batch < BATCHES; batch++) {
      const changes = Array.from({ length: BATCH }, () => {
        const accountId = accountIds[number % accountIds.length] as string
        const { value, amountText } = parseJson(Buffer.from(maker.line(number++, accountId)))
        return parsePaymentLine(value, amountText)
      })
      const { deliveries } = await recordPayments(recording, changes)
      const atMs = Date.now()
      const { ids: recorded } = await recordOutcomes(
        pool,
        deliveries.map((delivery) => ({
          ...delivery,
          epoch: epochs.get(delivery.shard) ?? 0,
          attempt: 1,
          runAttempt: 1,
          atMs,
          durationMs: 5,
          outcome: 'answered',
          status: 200,
          excerpt: null,
          state: 'DELIVERED',
          nextAttemptAtMs: null,
          firstAttemptAtMs: atMs,
          firstFailedAtMs: null,
          deadlineAtMs: atMs + 1_000,
          supersedes: false,
        })),
        new Date(),
      )
      count += recorded.size
    }
    return count
  }
  return {
    name: `${new URL(url).host} cell ${cell}`,
    pool,
    run,
    costs: [],
    servers: new Map(),
    count: 0,
  }
}

/** Of every process that works in a folder of this one, as PostgreSQL's do in their data, in microseconds. */
function readCpuUs(folder: string): ReadonlyMap<string, number> {
  const used = new Map<string, number>()
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const cwd = readlinkSync(`/proc/${pid}/cwd`)
      if (!cwd.startsWith(`${folder}/`)) continue
      const server = cwd.slice(folder.length + 1).split('/')[0] as string
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      // Its own, and that of children that have ended.
      const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0)
      used.set(server, (used.get(server) ?? 0) + ticks * 10_000)
    } catch {
      // It has ended.
    }
  }
  return used
}

const [folder = '', ...given] = positionals
const sides: Side[] = []
for (let at = 0; at + 1 < given.length; at += 2) {
  sides.push(await prepare(given[at] as string, Number(given[at + 1])))
}
for (const side of sides) await side.run()
for (let round = 0; round < ROUNDS; round++) {
  for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
    const before = readCpuUs(folder)
    const count = await side.run()
    let total = 0
    for (const [server, us] of readCpuUs(folder)) {
      const used = us - (before.get(server) ?? 0)
      side.servers.set(server, (side.servers.get(server) ?? 0) + used)
      total += used
    }
    side.count += count
    side.costs.push(total / count)
  }
}
for (const { name, costs, servers, count } of sides) {
  const sorted = costs.toSorted((one, other) => one - other)
  console.log(`${name}: ${sorted.map((cost) => cost.toFixed(0)).join(' ')} µs of CPU a delivery`)
  const each = [...servers].map(([server, us]) => `${server} ${(us / count).toFixed(0)}`)
  console.log(`  of that ${each.sort().join(', ')}`)
}
for (const { pool } of sides) await pool.end()
