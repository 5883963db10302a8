// node test/measure/cluster-rates.ts <folder> <address> <cell> <cell>: how many deliveries per second the stores of two
// cells of a cluster take, each alone and both at once, in turns; and how many cores each server of PostgreSQL had busy,
// whose data lie in folders of this one. Where one machine is all there is, its cores are the limit, and the cores of
// each server say what several would give. The cells have to be there; `paybell cells create` makes one.

import { parseArgs } from 'node:util'
import { type CellLoad, openCellLoad } from './cell-load.ts'
import { readCpuUs, usedBetween } from './server-cpu.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '6' },
    batch: { type: 'string', default: '250' },
    /** Batches under way in each cell. */
    writers: { type: 'string', default: '3' },
  },
})
const [folder = '', url = '', ...cells] = positionals
const [WRITERS, SECONDS] = [Number(values.writers), Number(values.seconds)]

interface Case {
  name: string
  loads: readonly CellLoad[]
  rates: number[]
  cores: Map<string, number>
}

async function measure({ loads, rates, cores }: Case): Promise<void> {
  const before = readCpuUs(folder)
  const startedAt = performance.now()
  const endsAt = startedAt + SECONDS * 1_000
  const write = async (load: CellLoad) => {
    let count = 0
    while (performance.now() < endsAt) count += await load.deliver(Number(values.batch))
    return count
  }
  const writers = loads.flatMap((load) => Array.from({ length: WRITERS }, () => write(load)))
  const total = (await Promise.all(writers)).reduce((sum, count) => sum + count, 0)
  const seconds = (performance.now() - startedAt) / 1_000
  rates.push(total / seconds)
  for (const [server, us] of usedBetween(before, readCpuUs(folder))) {
    cores.set(server, (cores.get(server) ?? 0) + us / 1e6 / seconds / Number(values.rounds))
  }
}

const loads: CellLoad[] = []
for (const cell of cells) loads.push(await openCellLoad(url, Number(cell), WRITERS))
const cases: readonly Case[] = [...loads.map((load) => [load]), loads].map((chosen) => ({
  name: chosen.map(({ name }) => name).join(' and '),
  loads: chosen,
  rates: [],
  cores: new Map(),
}))
for (const load of loads) await load.deliver(Number(values.batch))
for (let round = 0; round < Number(values.rounds); round++) {
  for (const next of round % 2 === 0 ? cases : cases.toReversed()) await measure(next)
}
for (const { name, rates, cores } of cases) {
  console.log(`${name}: ${rates.map((rate) => rate.toFixed(0)).join(' ')} deliveries per second`)
  const each = [...cores].map(([server, busy]) => `${server} ${busy.toFixed(2)}`)
  console.log(`  cores busy: ${each.sort().join(', ')}`)
}
for (const load of loads) await load.close()
