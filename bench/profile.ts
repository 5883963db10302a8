// `npm run bench -- --profile`: where the time goes. The Paybell cell under V8's profiler, with
// PostgreSQL counting by statement, once for each way of feeding.

import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Feed, measureOne, type Slice } from './harness/measure.ts'
import { monotonicMs } from './harness/monotonic.ts'
import { Stage } from './harness/stage.ts'
import { type RunningPaybell, startPaybell } from './paybell/system.ts'
import { readSelfTimes, type SelfTime } from './report/cpu-profile.ts'
import { WaitSampler } from './report/wait-sampler.ts'

const FUNCTIONS_SHOWN = 25
const STATEMENTS_SHOWN = 14

export async function profilePaybell(options: { seconds: number; endpoints: number }) {
  for (const feed of ['batch', 'put'] as const) await profileFeed(feed, options)
}

async function profileFeed(feed: Feed, options: { seconds: number; endpoints: number }) {
  const dir = await mkdtemp(join(tmpdir(), 'paybell-bench-profile-'))
  const stage = await Stage.open()
  const paybell = await startPaybell({
    receiverUrl: stage.receiverUrl,
    endpoints: options.endpoints,
    nodeArguments: ['--cpu-prof', `--cpu-prof-dir=${dir}`, '--cpu-prof-interval=500'],
    isCounting: true,
  })
  try {
    const sampler = new WaitSampler(paybell.database)
    const round = await measureOne(stage, paybell, {
      feed,
      seconds: options.seconds,
      warmUpSeconds: 2,
      seed: 'profile',
    })
    const untilMs = monotonicMs() - 1_100
    console.log(`\n## Fed by ${feed}: ${describe(round)}`)
    await printStatements(paybell, round)
    console.log('\nPostgreSQL, backends on average (warm-up included):')
    for (const { what, backends } of (await sampler.stop()).slice(0, 12)) {
      console.log(`${backends.toFixed(3).padStart(7)}  ${what}`)
    }
    await paybell.services[0]?.stop()
    const [file] = await readdir(dir)
    if (file === undefined) throw new Error('no profile was written')
    const times = await readSelfTimes(join(dir, file), untilMs - round.seconds * 1_000, untilMs)
    const each = (time: SelfTime) => `${((time.selfMs / round.deliveries) * 1_000).toFixed(1)} µs`
    console.log(`\nNode, by package (busy ${times.busyMs.toFixed(0)} ms):`)
    for (const time of times.byPackage.slice(0, 18)) print(time.share, each(time), time.name)
    console.log(`\nNode, top ${FUNCTIONS_SHOWN} functions by self time, per delivery:`)
    for (const time of times.byFunction.slice(0, FUNCTIONS_SHOWN)) {
      print(time.share, each(time), time.name)
    }
  } finally {
    await paybell.stop()
    await stage.close()
    await rm(dir, { recursive: true, force: true })
  }
}

function print(share: number, each: string, name: string): void {
  console.log(`${(share * 100).toFixed(1).padStart(6)} %  ${each.padStart(10)}  ${name}`)
}

function describe(round: Slice): string {
  const us = (perThousand: number) => `${(perThousand * 1_000).toFixed(0)} µs`
  return [
    `${round.perSecond.toFixed(0)}/s`,
    `Node ${us(round.cpu.service)}`,
    `PostgreSQL ${us(round.cpu.store)}`,
    `receiver ${us(round.cpu.receiver)}`,
    `generator ${us(round.cpu.generator)} CPU each`,
    `${round.walBytesEach.toFixed(0)} WAL bytes`,
    `${round.walFsyncsEach.toFixed(4)} fsyncs`,
    `${round.transactionsEach.toFixed(4)} transactions each`,
  ].join(', ')
}

async function printStatements(paybell: RunningPaybell, round: Slice): Promise<void> {
  const rows = await paybell.database.query<{
    query: string
    calls: string
    ms: number
    rows: string
    wal: string
  }>(
    `select regexp_replace(left(query, 110), '\\s+', ' ', 'g') as query, calls::text, rows::text,
       total_exec_time + total_plan_time as ms, wal_bytes::text as wal
     from pg_stat_statements order by ms desc limit ${STATEMENTS_SHOWN}`,
  )
  console.log('\nPostgreSQL, by statement (warm-up included):')
  for (const row of rows) {
    const ms = row.ms.toFixed(0).padStart(6)
    const each = (row.ms / Number(row.calls)).toFixed(2).padStart(8)
    const wal = Math.round(Number(row.wal) / 1_024)
    console.log(
      `${ms} ms ${row.calls.padStart(6)} calls ${each} ms each ${wal} KiB WAL  ${row.query}`,
    )
  }
  console.log(`(${round.deliveries} deliveries measured)`)
}
