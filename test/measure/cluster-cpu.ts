// node test/measure/cluster-cpu.ts <folder> <address> <cell> <address> <cell> …: what accepting and recording cost each
// of these databases, in CPU of all processes of PostgreSQL whose data lie in folders of this one, Citus' workers
// included, and of each by itself. In turns, so that a busy machine disturbs all alike. `--batch 1` is for single changes.
// The cells have to be there; `paybell cells create` makes one.

import { parseArgs } from 'node:util'
import { type CellLoad, openCellLoad } from './cell-load.ts'
import { readCpuUs, usedBetween } from './server-cpu.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '4' }, batch: { type: 'string', default: '250' } },
})
const ROUNDS = Number(values.rounds)
const BATCH = Number(values.batch)
/** In one round. */
const BATCHES = BATCH === 1 ? 300 : 20

interface Side {
  load: CellLoad
  costs: number[]
  /** Of all rounds, by server. */
  servers: Map<string, number>
  count: number
}

async function run({ load }: Side): Promise<number> {
  let count = 0
  for (let batch = 0; batch < BATCHES; batch++) count += await load.deliver(BATCH)
  return count
}

const [folder = '', ...given] = positionals
const sides: Side[] = []
for (let at = 0; at + 1 < given.length; at += 2) {
  const load = await openCellLoad(given[at] as string, Number(given[at + 1]))
  sides.push({ load, costs: [], servers: new Map(), count: 0 })
}
for (const side of sides) await run(side)
for (let round = 0; round < ROUNDS; round++) {
  for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
    const before = readCpuUs(folder)
    const count = await run(side)
    let total = 0
    for (const [server, us] of usedBetween(before, readCpuUs(folder))) {
      side.servers.set(server, (side.servers.get(server) ?? 0) + us)
      total += us
    }
    side.count += count
    side.costs.push(total / count)
  }
}
for (const { load, costs, servers, count } of sides) {
  const sorted = costs.toSorted((one, other) => one - other)
  console.log(
    `${load.name}: ${sorted.map((cost) => cost.toFixed(0)).join(' ')} µs of CPU a delivery`,
  )
  const each = [...servers].map(([server, us]) => `${server} ${(us / count).toFixed(0)}`)
  console.log(`  of that ${each.sort().join(', ')}`)
}
for (const { load } of sides) await load.close()
