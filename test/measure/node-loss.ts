// node test/measure/node-loss.ts <address> <cell> <cell> --kill '<command>' --revive '<command>': what clients of one cell
// of a cluster notice when the node of another dies. Both cells get payments at one pace, in an open loop; the first
// command kills the node of the second cell, the other starts it again. Prints for each cell, before, while the node is
// dead, and after, how long a payment takes from when it was due to its receiver, and what was refused. The cells have to
// be there, fresh and on two nodes: `paybell cells create` and `paybell cells move`.

import { execSync } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type Percentiles, percentiles } from '../../bench/harness/statistics.ts'
import { addressOfCell } from '../../server/core/network/database-url.ts'
import { createPool } from '../../server/store/connection/db.ts'
import { collectCleanUps } from '../support/owner.ts'
import { type Paybell, startPaybell, until } from '../support/paybell.ts'
import { PLAIN, sampleBody } from '../support/payment-sample.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    kill: { type: 'string', default: '' },
    revive: { type: 'string', default: '' },
    /** Payments per second, for each cell. */
    pace: { type: 'string', default: '40' },
    /** Of each of the three parts. */
    seconds: { type: 'string', default: '15' },
  },
})
const PARTS = ['before', 'while the node is dead', 'after'] as const

interface Written {
  part: (typeof PARTS)[number]
  dueAtMs: number
  /** At first. It is repeated, when the answer says, until it is accepted, as an operator's system does. */
  wasRefused: boolean
}

interface Watched {
  name: string
  paybell: Paybell
  receiver: Receiver
  written: Map<string, Written>
}

const owner = collectCleanUps()

async function watch(url: string, cell: number): Promise<Watched> {
  const databaseUrl = addressOfCell(url, cell)
  const pool = createPool({
    url: databaseUrl,
    connectionsMax: 2,
    onIdleError: () => {},
    applicationName: 'paybell node-loss',
  })
  owner.after(() => pool.end())
  const receiver = await startReceiver(owner)
  const paybell = await startPaybell(owner, {
    database: { url: databaseUrl, pool, drop: async () => {} },
    masterKey: randomBytes(32),
    env: { PAYBELL_CELL: String(cell) },
  })
  await paybell.caller.register(receiver.url(), 'a key')
  return { name: `cell ${cell}`, paybell, receiver, written: new Map() }
}

async function write({ paybell, written }: Watched, part: Written['part']): Promise<void> {
  const id = randomUUID()
  const entry: Written = { part, dueAtMs: Date.now(), wasRefused: false }
  written.set(id, entry)
  const body = sampleBody({ id, ...PLAIN })
  for (;;) {
    const answer = await paybell.caller.putPayment(id, body).catch(() => null)
    if (answer?.ok) return
    entry.wasRefused = true
    await delay(Number(answer?.headers.get('retry-after') ?? 1) * 1_000)
  }
}

async function load(cells: readonly Watched[], part: Written['part']): Promise<Promise<void>[]> {
  const writes: Promise<void>[] = []
  const everyMs = 1_000 / Number(values.pace)
  const startedAt = Date.now()
  for (let n = 0; n * everyMs < Number(values.seconds) * 1_000; n++) {
    await delay(Math.max(0, startedAt + n * everyMs - Date.now()))
    for (const cell of cells) writes.push(write(cell, part))
  }
  return writes
}

function report({ name, receiver, written }: Watched): void {
  const arrivedAtMs = new Map<string, number[]>()
  for (const { body, atMs } of receiver.received) {
    const { id } = JSON.parse(body.toString()) as { id: string }
    arrivedAtMs.set(id, [...(arrivedAtMs.get(id) ?? []), atMs])
  }
  for (const part of PARTS) {
    const entries = [...written].filter(([, entry]) => entry.part === part)
    const waits = entries.flatMap(([id, { dueAtMs }]) =>
      (arrivedAtMs.get(id) ?? []).slice(0, 1).map((atMs) => atMs - dueAtMs),
    )
    const { p50, p99, max }: Percentiles = percentiles(waits)
    const refused = entries.filter(([, { wasRefused }]) => wasRefused).length
    console.log(
      `${name}, ${part}: ${entries.length} payments, ${refused} refused at first, p50 ${p50} ms, p99 ${p99.toFixed(0)} ms, longest ${max} ms`,
    )
  }
  const ids = [...written.keys()]
  const missing = ids.filter((id) => !arrivedAtMs.has(id)).length
  const twice = ids.filter((id) => (arrivedAtMs.get(id)?.length ?? 0) > 1).length
  console.log(`${name}: ${missing} missing, ${twice} twice`)
}

const [url = '', one, other] = positionals
const cells = [await watch(url, Number(one)), await watch(url, Number(other))]
try {
  const writes = await load(cells, PARTS[0])
  execSync(values.kill)
  writes.push(...(await load(cells, PARTS[1])))
  execSync(values.revive)
  writes.push(...(await load(cells, PARTS[2])))
  await Promise.all(writes)
  for (const { receiver, written } of cells) {
    const hasAll = () => receiver.received.length >= written.size
    await until('all is delivered', hasAll, 120_000)
  }
  for (const cell of cells) report(cell)
} finally {
  await owner.cleanUp()
}
