// bench/RESULTS.md: the tables of one run, with what they were measured on.

import type { StoreFloors } from '../floors/floors.ts'
import type { Machine } from '../harness/machine.ts'
import type { ScenarioResult } from '../scenarios/scenario.ts'
import { openingLines } from './opening.ts'
import type { Ratios, Row } from './summary.ts'
import { markdownTable, number, ratio } from './text.ts'

export interface RunReport {
  date: string
  mode: string
  machine: Machine
  versions: Readonly<Record<string, string>>
  timing: {
    rounds: number
    slices: number
    seconds: number
    warmUpSeconds: number
    endpoints: number
    seed: string
  }
  rows: readonly Row[]
  ratios: { batch: Ratios | null; put: Ratios | null }
  floors: StoreFloors | null
  scenarios: readonly ScenarioResult[]
  notes: readonly string[]
}

export function deliveryTable(rows: readonly Row[]): string {
  return markdownTable(
    [
      'system',
      'fed by',
      'deliveries/s (min–max)',
      'accepted/s',
      '× floor',
      'CPU ms each (least, quarter)',
      'CPU ms accepted',
      'service + store',
      'WAL bytes each',
      'receiver, generator',
      'durable',
      'stolen',
      'slices',
      'refused',
    ],
    rows.map((row) => [
      row.name,
      row.feed ?? '–',
      row.perSecond.slices === 0
        ? row.failure === null
          ? 'no slice counts'
          : 'failed'
        : `${number(row.perSecond.median)} (${number(row.perSecond.min)}–${number(row.perSecond.max)})`,
      number(row.accepted.perSecond),
      ratio(row.toFloor),
      `${number(row.cpu.system, 3)} (${number(row.calm.least, 3)}, ${number(row.calm.quarter, 3)})`,
      number(row.accepted.cpu, 3),
      `${number(row.cpu.service, 3)} + ${number(row.cpu.store, 3)}`,
      number(row.walBytesEach),
      `${number(row.cpu.receiver, 3)}, ${number(row.cpu.generator, 3)}`,
      row.durability,
      `${number(row.stolen * 100, 1)} %`,
      String(row.perSecond.slices),
      refusedOf(row),
    ]),
  )
}

/** Slices that count for nothing, and why. */
function refusedOf({ discarded }: Row): string {
  const { missing, duplicates } = discarded
  const reasons = [
    missing > 0 ? `${missing} missing` : '',
    duplicates > 0 ? `${duplicates} twice` : '',
  ]
  return reasons.filter((reason) => reason !== '').join(', ') || '0'
}

export function scenarioTable(scenarios: readonly ScenarioResult[]): string {
  return markdownTable(
    ['scenario', 'measured', 'against', 'ratio', 'wanted', 'met', 'CPU ms each', 'WAL bytes each'],
    scenarios.map((scenario) => [
      `${scenario.target === null ? '' : `${scenario.target}. `}${scenario.name}`,
      scenario.measured,
      scenario.against,
      scenario.ratio === null ? '–' : ratio(scenario.ratio),
      scenario.wanted,
      scenario.isMet === null ? '–' : scenario.isMet ? 'yes' : 'NO',
      number(scenario.cost?.cpuMs ?? Number.NaN, 3),
      number(scenario.cost?.walBytes ?? Number.NaN),
    ]),
  )
}

export function ratioLines(ratios: RunReport['ratios']): string[] {
  return (['batch', 'put'] as const).flatMap((feed) => {
    const found = ratios[feed]
    if (found === null) return []
    return [
      `Fed by ${feed}: ${ratio(found.toFloor)} × the raw floor; ${ratio(found.toBestPeer)} × the best durable peer (${found.bestPeer}; ${ratio(found.toBestPeerCalm)} × in the best quarter of the slices), which needs ${ratio(found.cpuToBestPeer)} × the CPU per delivery.`,
    ]
  })
}

export function floorTable(floors: StoreFloors): string {
  const rows = [
    [
      'write + fdatasync',
      `${number(floors.flush.perSecond)}/s`,
      `${number(floors.flush.medianMs, 3)} ms`,
    ],
    [
      'commit of one row, one connection',
      `${number(floors.commit.perSecond)}/s`,
      `${number(floors.commit.medianMs, 3)} ms`,
    ],
    ['one POST after the other', '', `${number(floors.postMedianMs, 3)} ms`],
    ...floors.batches.map((batch) => [
      `accept, then record, ${batch.size} at a time`,
      `${number(batch.acceptRowsPerSecond)} and ${number(batch.recordRowsPerSecond)} rows/s`,
      `${number(batch.acceptWalBytesEach)} and ${number(batch.recordWalBytesEach)} WAL bytes a row`,
    ]),
    [
      'PostgreSQL only: the SQL of a delivery',
      `${number(floors.statementsOnly.perSecond)}/s`,
      `${number(floors.statementsOnly.cpuPer1000.store, 3)} CPU-s per 1,000 (and ${number(floors.statementsOnly.cpuPer1000.service, 3)} in Node)`,
    ],
    ['bare Fastify route', `${number(floors.hello.perSecond)}/s`, ''],
    ['receiver alone, under the generator', `${number(floors.receiverAlone.perSecond)}/s`, ''],
    ...floors.loops.map((loop) => [loop.name, '', `${number(loop.microseconds, 1)} µs`]),
  ]
  return markdownTable(['floor', 'rate', 'each'], rows)
}

export function resultsMarkdown(report: RunReport, reading = ''): string {
  const { machine, timing } = report
  const versions = Object.entries(report.versions).map(([name, version]) => `${name} ${version}`)
  const parts = [
    '# Results',
    ...openingLines(report).map((line) => `- ${line}`),
    '![Durable deliveries per second and processor time per delivery](overview.svg)',
    `Written by \`npm run bench\`; do not edit. How to read it: [README.md](README.md).`,
    `${report.date}, ${report.mode} run, ${machine.cores} cores (${machine.cpu}), ${machine.memoryGb} GB, Linux ${machine.kernel}, Node ${machine.node}. ${versions.join(', ')}.`,
    `${timing.rounds} rounds, forward and back, each of ${timing.slices} slices of ${timing.seconds} s after ${timing.warmUpSeconds} s of warm-up; ${timing.endpoints} endpoints; seed \`${timing.seed}\`. Median with the least and greatest slice. Database, service, receiver and load generator share the cores.`,
    '## Durable deliveries, end to end',
    ...ratioLines(report.ratios).map((line) => `- ${line}`),
    deliveryTable(report.rows),
    'In every slice that counts each payment arrived, and arrived once: a slice in which one was missing or came twice is refused. *Stolen*: the share of the time that the hypervisor took away, the median of the slices. No slice is left out for it: *least* and *quarter* (a quarter of the slices needed less) are what it has left undisturbed.',
  ]
  if (report.scenarios.length > 0) {
    parts.push('## Bad days and targets', scenarioTable(report.scenarios))
    const details = report.scenarios.filter((scenario) => scenario.detail !== '')
    parts.push(details.map((scenario) => `- **${scenario.name}**: ${scenario.detail}`).join('\n'))
    if (report.scenarios.some((scenario) => scenario.latencies.length > 0)) {
      parts.push('![Latency](plots/latency.svg)')
    }
  }
  if (reading !== '') parts.push(reading.trim())
  if (report.floors !== null)
    parts.push('## Floors, measured in the same run', floorTable(report.floors))
  if (report.notes.length > 0)
    parts.push('## Notes', report.notes.map((note) => `- ${note}`).join('\n'))
  return `${parts.join('\n\n').replaceAll(/(- [^\n]*)\n\n(?=- )/g, '$1\n')}\n`
}
