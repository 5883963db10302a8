// `node bench/processes.ts 24 4000`: `paybell serve` alone and with two processes under a parent, fed by batch with so many
// payments a slice, in turns (ABBA). Least, first quarter and median of processor time, the greatest, third quarter and
// median of the rate: what disturbs a slice on a busy machine only makes it dearer and slower.

import { limitsOf, measureFeed, type Slice } from './harness/measure.ts'
import { Stage } from './harness/stage.ts'
import { lowerHalf } from './harness/statistics.ts'
import { type RunningPaybell, startPaybell } from './paybell/system.ts'

interface Side {
  siblings: number
  stage: Stage
  paybell: RunningPaybell
  slices: Slice[]
}

const CPU_RATIO_MAX = 1.1
const RATE_RATIO_MIN = 1.15
const ENDPOINTS = 20

const [slices = 24, count = 4_000] = process.argv.slice(2).map(Number)
const sides: Side[] = []
try {
  for (const siblings of [1, 2]) sides.push(await open(siblings))
  for (const side of sides) await feed(side) // To warm up.
  for (let round = 0; round < slices; round++) {
    const order = round % 2 === 0 ? sides : sides.toReversed()
    for (const side of order) {
      const slice = await feed(side)
      side.slices.push(slice)
      const cost = costOf(slice).toFixed(0)
      console.log(`  by ${side.siblings}: ${slice.perSecond.toFixed(0)}/s, ${cost} µs each`)
    }
  }
  for (const side of sides) console.log(describe(side))
  compare()
} finally {
  for (const { stage, paybell } of sides) {
    await paybell.stop()
    await stage.close()
  }
}

function feed({ stage, paybell }: Side): Promise<Slice> {
  return measureFeed(stage, paybell, () =>
    stage.feed({ ...limitsOf('batch', 3_600), countMax: count }),
  )
}

async function open(siblings: number): Promise<Side> {
  const stage = await Stage.open()
  const receiverUrl = await stage.openTlsOrigin()
  const paybell = await startPaybell({ receiverUrl, endpoints: ENDPOINTS, siblings })
  await untilShared(paybell, siblings)
  const { baseUrl, operatorKey, accountIds } = paybell
  await stage.aim({ baseUrl, operatorKey, accountIds, seed: 'processes' })
  return { siblings, stage, paybell, slices: [] }
}

/** Every shard has an owner, and each process its share. */
async function untilShared({ database }: RunningPaybell, siblings: number): Promise<void> {
  for (const limit = performance.now() + 60_000; performance.now() < limit; ) {
    const rows = await database.query<{ count: number }>(
      'select count(*)::int from paybell.leases where owner is not null group by owner',
    )
    if (rows.length === siblings && rows.every((row) => row.count === 64 / siblings)) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('the shards were not shared out within 60 s')
}

/** CPU of service and database together, in µs a delivery. */
function costOf({ cpu }: Slice): number {
  return (cpu.service + cpu.store) * 1_000
}

/** Greatest, third quarter and median. */
function upperHalf(values: readonly number[]): readonly number[] {
  return lowerHalf(values.map((value) => -value)).map((value) => -value)
}

function describe({ siblings, slices }: Side): string {
  const row = (name: string, figures: readonly number[], digits: number) =>
    `  ${name}: ${figures.map((figure) => figure.toFixed(digits)).join(', ')}`
  const low = (name: string, read: (slice: Slice) => number, digits = 1) =>
    row(name, lowerHalf(slices.map(read)), digits)
  return [
    `${siblings} ${siblings === 1 ? 'process' : 'processes'}`,
    low('service, µs each', ({ cpu }) => cpu.service * 1_000),
    low('PostgreSQL, µs each', ({ cpu }) => cpu.store * 1_000),
    low('both, µs each', costOf),
    row('deliveries/s', upperHalf(slices.map(({ perSecond }) => perSecond)), 0),
    low('transactions each', ({ transactionsEach }) => transactionsEach, 4),
    low('WAL bytes each', ({ walBytesEach }) => walBytesEach, 0),
    row('missing or twice', [sumOf(slices, (slice) => slice.missing + slice.duplicates)], 0),
  ].join('\n')
}

function sumOf(slices: readonly Slice[], read: (slice: Slice) => number): number {
  return slices.reduce((sum, slice) => sum + read(slice), 0)
}

function compare(): void {
  const ratioOf = (read: (slices: readonly Slice[]) => readonly number[]) => {
    const [one = [], two = []] = sides.map(({ slices }) => read(slices))
    return two.map((figure, index) => figure / (one[index] ?? Number.NaN))
  }
  const cpu = ratioOf((all) => lowerHalf(all.map(costOf)))
  const rate = ratioOf((all) => upperHalf(all.map(({ perSecond }) => perSecond)))
  const text = (ratios: readonly number[]) => ratios.map((ratio) => ratio.toFixed(2)).join(', ')
  console.log(`CPU a delivery, two to one: ${text(cpu)} (wanted ≤ ${CPU_RATIO_MAX})`)
  console.log(`deliveries/s, two to one: ${text(rate)} (wanted ≥ ${RATE_RATIO_MIN})`)
}
