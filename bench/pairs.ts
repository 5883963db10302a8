// `node bench/pairs.ts put 4 10000 ../before .`: two checkouts side by side, fed in turn (ABBA) with so many
// payments a round. Processor time is compared, which a busy machine disturbs less than the clock on the wall: least,
// first quarter and median of the rounds.

import { resolve } from 'node:path'
import { type Feed, limitsOf, measureFeed, type Slice } from './harness/measure.ts'
import { Stage } from './harness/stage.ts'
import { lowerHalf } from './harness/statistics.ts'
import type { RunningSystem } from './harness/system.ts'

interface Side {
  checkout: string
  stage: Stage
  system: RunningSystem
  rounds: Slice[]
}

const [feed, rounds, count, ...checkouts] = process.argv.slice(2)
if ((feed !== 'put' && feed !== 'batch') || !Number(rounds) || !Number(count) || !checkouts[0]) {
  console.log('node bench/pairs.ts put|batch <rounds> <payments a round> <checkout> <checkout>')
  process.exit(1)
}
await compare(feed, Number(rounds), Number(count))

async function compare(feed: Feed, rounds: number, count: number): Promise<void> {
  const sides: Side[] = []
  try {
    for (const checkout of checkouts) sides.push(await open(checkout))
    const feedOnce = ({ stage, system }: Side) =>
      measureFeed(stage, system, () => stage.feed({ ...limitsOf(feed, 3_600), countMax: count }))
    for (const side of sides) await feedOnce(side) // To warm up.
    for (let round = 0; round < rounds; round++) {
      const order = round % 2 === 0 ? sides : sides.toReversed()
      for (const side of order) side.rounds.push(await feedOnce(side))
    }
    for (const side of sides) console.log(describe(side))
  } finally {
    for (const { stage, system } of sides) {
      await system.stop()
      await stage.close()
    }
  }
}

async function open(checkout: string): Promise<Side> {
  const { startPaybell } = await import(resolve(checkout, 'bench/paybell/system.ts'))
  const stage = await Stage.open()
  const system: RunningSystem = await startPaybell({
    receiverUrl: stage.receiverUrl,
    endpoints: 20,
  })
  const { baseUrl, operatorKey, accountIds } = system
  await stage.aim({ baseUrl, operatorKey, accountIds, seed: 'pairs' })
  return { checkout, stage, system, rounds: [] }
}

function describe({ checkout, rounds }: Side): string {
  const row = (name: string, read: (round: Slice) => number, digits: number) => {
    const figures = lowerHalf(rounds.map(read)).map((figure) => figure.toFixed(digits))
    return `  ${name}: ${figures.join(', ')}`
  }
  return [
    checkout,
    row('service, µs each', ({ cpu }) => cpu.service * 1_000, 1),
    row('PostgreSQL, µs each', ({ cpu }) => cpu.store * 1_000, 1),
    row('transactions each', ({ transactionsEach }) => transactionsEach, 4),
    row('WAL bytes each', ({ walBytesEach }) => walBytesEach, 0),
    row('missing or twice', ({ missing, duplicates }) => missing + duplicates, 0),
  ].join('\n')
}
