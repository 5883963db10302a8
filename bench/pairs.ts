// `node bench/pairs.ts put 4 10000 ../before .`: two checkouts side by side, fed in turn (ABBA) with so many
// payments a round. Processor time is compared, which a busy machine disturbs less than the clock on the wall: least,
// first quarter and median of the rounds. `.#10 .#100000` is this checkout with ten endpoints and with a hundred
// thousand, which the payments go to one after the other; without a number there are twenty.

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
  /** Processor seconds when it was warm, and when all rounds of all sides were over. */
  cpu: { service: number; store: number }[]
}

const ENDPOINTS = 20

type Reading = (round: Slice) => number

const SERVICE: Reading = ({ cpu }) => cpu.service * 1_000
const STORE: Reading = ({ cpu }) => cpu.store * 1_000

const [feed, rounds, count, ...checkouts] = process.argv.slice(2)
if ((feed !== 'put' && feed !== 'batch') || !Number(rounds) || !Number(count) || !checkouts[0]) {
  console.log(
    'node bench/pairs.ts put|batch <rounds> <payments a round> <checkout>[#<endpoints>] …',
  )
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
    for (const side of sides) side.cpu.push(side.system.cpuSeconds())
    for (let round = 0; round < rounds; round++) {
      const order = round % 2 === 0 ? sides : sides.toReversed()
      for (const side of order) side.rounds.push(await feedOnce(side))
    }
    for (const side of sides) side.cpu.push(side.system.cpuSeconds())
    for (const side of sides) console.log(describe(side))
    const [first, ...others] = sides
    for (const side of others) console.log(compareWith(first as Side, side))
  } finally {
    for (const { stage, system } of sides) {
      await system.stop()
      await stage.close()
    }
  }
}

async function open(name: string): Promise<Side> {
  const [checkout = '', endpoints = ENDPOINTS] = name.split('#')
  const { startPaybell } = await import(resolve(checkout, 'bench/paybell/system.ts'))
  const stage = await Stage.open()
  const system: RunningSystem = await startPaybell({
    receiverUrl: stage.receiverUrl,
    endpoints: Number(endpoints),
  })
  const { baseUrl, operatorKey, accountIds } = system
  await stage.aim({ baseUrl, operatorKey, accountIds, seed: 'pairs' })
  return { checkout: name, stage, system, rounds: [], cpu: [] }
}

function describe(side: Side): string {
  const row = (name: string, read: Reading, digits: number) => {
    const figures = lowerHalf(side.rounds.map(read)).map((figure) => figure.toFixed(digits))
    return `  ${name}: ${figures.join(', ')}`
  }
  const whole = wholeOf(side)
  return [
    side.checkout,
    row('service, µs each', SERVICE, 1),
    row('PostgreSQL, µs each', STORE, 1),
    `  with what they do between the rounds: ${whole.service.toFixed(1)} and ${whole.store.toFixed(1)}`,
    row('transactions each', ({ transactionsEach }) => transactionsEach, 4),
    row('WAL bytes each', ({ walBytesEach }) => walBytesEach, 0),
    row('missing or twice', ({ missing, duplicates }) => missing + duplicates, 0),
  ].join('\n')
}

/** Counts are written late, and partitions looked after, while the other side is fed: that is somebody's cost, too. */
function wholeOf({ cpu: [before, after], rounds }: Side): { service: number; store: number } {
  const deliveries = rounds.reduce((sum, round) => sum + round.deliveries, 0)
  const each = (key: 'service' | 'store') =>
    (((after?.[key] ?? 0) - (before?.[key] ?? 0)) / deliveries) * 1e6
  return { service: each('service'), store: each('store') }
}

function compareWith(first: Side, side: Side): string {
  const ratios = (read: Reading) => {
    const [of, to] = [side, first].map(({ rounds }) => lowerHalf(rounds.map(read)))
    return of?.map((figure, index) => (figure / (to?.[index] as number)).toFixed(2)).join(', ')
  }
  const [of, to] = [wholeOf(side), wholeOf(first)]
  const whole = (of.service + of.store) / (to.service + to.store)
  const both: Reading = (round) => SERVICE(round) + STORE(round)
  return `${side.checkout} / ${first.checkout}: service ${ratios(SERVICE)}; PostgreSQL ${ratios(STORE)}; both ${ratios(both)}, between the rounds too ${whole.toFixed(2)}`
}
