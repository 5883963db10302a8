// node test/measure/cluster-cpu.ts <folder> <address> <cell> <address> <cell> …: what accepting and recording cost each
// of these databases, in CPU of all processes of PostgreSQL whose data lie in the folder, Citus' workers included. In
// turns, so that a busy machine disturbs all alike. The cells have to be there; `paybell cells create` makes one.

import { randomBytes, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
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

const ROUNDS = 4
const BATCHES = 20
const BATCH = 250

interface Side {
  name: string
  pool: pg.Pool
  run(): Promise<number>
  costs: number[]
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
  return { name: `${new URL(url).host} cell ${cell}`, pool, run, costs: [] }
}

/** Of every process that works in the folder, as PostgreSQL's do in their data, in microseconds. */
function cpuUs(folder: string): number {
  let ticks = 0
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (!readlinkSync(`/proc/${pid}/cwd`).startsWith(folder)) continue
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      // Its own, and that of children that have ended.
      for (const index of [11, 12, 13, 14]) ticks += Number(fields[index])
    } catch {
      // It has ended.
    }
  }
  return ticks * 10_000
}

const [folder = '', ...given] = process.argv.slice(2)
const sides: Side[] = []
for (let at = 0; at + 1 < given.length; at += 2) {
  sides.push(await prepare(given[at] as string, Number(given[at + 1])))
}
for (const side of sides) await side.run()
for (let round = 0; round < ROUNDS; round++) {
  for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
    const before = cpuUs(folder)
    const count = await side.run()
    side.costs.push((cpuUs(folder) - before) / count)
  }
}
for (const { name, costs } of sides) {
  const sorted = costs.toSorted((one, other) => one - other)
  console.log(`${name}: ${sorted.map((cost) => cost.toFixed(0)).join(' ')} µs of CPU a delivery`)
}
for (const { pool } of sides) await pool.end()
