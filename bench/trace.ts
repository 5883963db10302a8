// `node bench/trace.ts`: where a lone PUT spends its time. The real service, 50 PUTs a second in an open loop, in slices:
// p50, p99 and the greatest of each stage, and what went on beside the slowest hundredth.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { machineTimes } from './harness/cpu.ts'
import { LeanClient } from './harness/lean-client.ts'
import { aimAt, limitsOf, untilSettled } from './harness/measure.ts'
import { monotonicMs } from './harness/monotonic.ts'
import { PaymentMaker } from './harness/payments.ts'
import type { Stage } from './harness/stage.ts'
import { percentiles } from './harness/statistics.ts'
import type { RunningPaybell } from './paybell/system.ts'
import { withPaybell } from './scenarios/with-paybell.ts'
import { type Noted, type Put, STAGES, type Traced, traceOf } from './trace/stages.ts'

const { values } = parseArgs({
  options: {
    'per-second': { type: 'string', default: '50' },
    /** Of each slice. */
    seconds: { type: 'string', default: '5' },
    slices: { type: 'string', default: '6' },
    /** For node itself, such as --flags=--single-threaded-gc. */
    flags: { type: 'string', default: '' },
    /** PUTs at full speed before the trace: code that runs is code that was compiled. */
    'warm-up': { type: 'string', default: '3000' },
  },
})
const perSecond = Number(values['per-second'])
const seconds = Number(values.seconds)
const slices = Number(values.slices)
const warmUp = Number(values['warm-up'])
const SEED = 'trace'
const STAMPS = fileURLToPath(new URL('./trace/stamps.ts', import.meta.url))
const nodeArguments = ['--import', STAMPS, ...values.flags.split(' ').filter(Boolean)]

const dir = await mkdtemp(join(tmpdir(), 'paybell-bench-trace-'))
try {
  const file = join(dir, 'stamps.json')
  const before = machineTimes()
  const puts = await withPaybell(
    { endpoints: 20, nodeArguments, env: { TRACE_FILE: file } },
    measure,
  )
  const after = machineTimes()
  const noted = JSON.parse(await readFile(file, 'utf8')) as Noted
  const share = (key: 'busy' | 'steal') =>
    `${Math.round((100 * (after[key] - before[key])) / (after.total - before.total))} %`
  console.log(`the machine: ${share('busy')} busy, ${share('steal')} of it stolen or not ours`)
  describe(traceOf(puts, noted), puts.length)
  describePauses(noted, puts)
} finally {
  await rm(dir, { recursive: true, force: true })
}

async function measure(stage: Stage, paybell: RunningPaybell): Promise<Put[]> {
  await aimAt(stage, paybell, SEED)
  if (warmUp > 0) await stage.feed({ ...limitsOf('put', 120), countMax: warmUp })
  await untilSettled(stage, paybell)
  const puts = await sendAll(paybell)
  await untilSettled(stage, paybell, warmUp + puts.length)
  const { atMs } = await stage.arrivals(warmUp + puts.length)
  for (const [index, put] of puts.entries()) put.arrivedMs = atMs[warmUp + index] as number
  return puts
}

async function sendAll({ baseUrl, operatorKey, accountIds }: RunningPaybell): Promise<Put[]> {
  const maker = new PaymentMaker(SEED)
  const client = new LeanClient(baseUrl)
  const puts: Put[] = []
  const answers: Promise<void>[] = []
  const startMs = monotonicMs()
  for (let index = 0; index < slices * seconds * perSecond; index++) {
    await until(startMs + (index * 1_000) / perSecond)
    const number = warmUp + index
    const put = { path: `/operator/v1/payments/${maker.id(number)}`, arrivedMs: 0 }
    const sent = { ...put, sentMs: monotonicMs(), answeredMs: 0 }
    puts.push(sent)
    const headers = `authorization: Bearer ${operatorKey}\r\naccountid: ${accountIds[number % accountIds.length]}\r\ncontent-type: application/json\r\n`
    const asked = client.ask('PUT', put.path, headers, maker.body(number))
    answers.push(
      asked.then(({ status, body }) => {
        if (status !== 201) throw new Error(`${status} ${body}`)
        sent.answeredMs = monotonicMs()
      }),
    )
  }
  await Promise.all(answers)
  client.close()
  return puts
}

/** Timers are late by a millisecond: the last 2 ms pass in turns of the event loop. */
async function until(dueMs: number): Promise<void> {
  const waitMs = dueMs - monotonicMs()
  if (waitMs > 2) await delay(waitMs - 2)
  while (monotonicMs() < dueMs) await new Promise((resolve) => setImmediate(resolve))
}

function describe(traced: readonly Traced[], sent: number): void {
  const row = (name: string, values: readonly number[]) => {
    const { p50, p99, max } = percentiles(values)
    const cells = [p50, p99, max].map((value) => value.toFixed(2).padStart(9)).join('')
    console.log(`${name.padEnd(34)}${cells}`)
  }
  console.log(`${traced.length} of ${sent} PUTs traced, ${perSecond} a second; ms`)
  console.log(`${''.padEnd(34)}${['p50', 'p99', 'max'].map((name) => name.padStart(9)).join('')}`)
  for (const [index, name] of STAGES.entries()) {
    row(
      name,
      traced.map(({ stagesMs }) => stagesMs[index] as number),
    )
  }
  row(
    'sent to answered',
    traced.map(({ totalMs }) => totalMs),
  )
  row(
    'sent to the receiver',
    traced.map(({ arrivedMs }) => arrivedMs),
  )
  describeSlices(traced)
  describeSlowest(traced)
}

function describePauses({ pauses }: Noted, puts: readonly Put[]): void {
  const since = puts[0]?.sentMs ?? 0
  const during = pauses.filter(({ startMs }) => startMs >= since)
  for (const [name, own] of Map.groupBy(during, (pause) => pause.name)) {
    const { p50, max } = percentiles(own.map(({ startMs, endMs }) => endMs - startMs))
    console.log(`${own.length} × ${name}: p50 ${p50.toFixed(1)} ms, max ${max.toFixed(1)}`)
  }
}

/** On a machine with neighbours the calmest slices say what the service does. */
function describeSlices(traced: readonly Traced[]): void {
  const startMs = traced[0]?.sentMs ?? 0
  const bySlice = Map.groupBy(traced, ({ sentMs }) =>
    Math.floor((sentMs - startMs) / (seconds * 1_000)),
  )
  const figures = [...bySlice.values()].map((slice) =>
    percentiles(slice.map(({ totalMs }) => totalMs)),
  )
  for (const key of ['p50', 'p99'] as const) {
    const sorted = figures.map((figure) => figure[key]).sort((one, other) => one - other)
    const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(2)
    console.log(
      `${key} of ${sorted.length} slices: least ${at(0)}, quarter ${at(0.25)}, median ${at(0.5)}`,
    )
  }
  const ratios = figures.map(({ p50, p99 }) => p99 / p50).sort((one, other) => one - other)
  console.log(
    `p99 / p50 in one slice: least ${ratios[0]?.toFixed(1)}, median ${ratios[ratios.length >> 1]?.toFixed(1)}`,
  )
}

function describeSlowest(traced: readonly Traced[]): void {
  const sorted = traced.toSorted((one, other) => other.totalMs - one.totalMs)
  const slowest = sorted.slice(0, Math.max(1, Math.round(sorted.length / 100)))
  const count = (among: readonly Traced[], what: string) =>
    Math.round((100 * among.filter(({ beside }) => beside.has(what)).length) / among.length)
  const kinds = new Set(slowest.flatMap(({ beside }) => [...beside]))
  const rows = [...kinds].map((what) => ({
    what,
    slow: count(slowest, what),
    all: count(traced, what),
  }))
  console.log(`beside the slowest ${slowest.length}, and beside all, in %:`)
  for (const { what, slow, all } of rows.sort((one, other) => other.slow - one.slow)) {
    console.log(`  ${what.padEnd(42)}${String(slow).padStart(4)}${String(all).padStart(5)}`)
  }
  for (const { totalMs, stagesMs } of slowest.slice(0, 10)) {
    console.log(`  ${totalMs.toFixed(1)} = ${stagesMs.map((ms) => ms.toFixed(1)).join(' + ')}`)
  }
}
