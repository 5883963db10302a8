// The first five lines of RESULTS.md: what a buyer asks, answered from the figures of the run. Nothing is said in
// them that the tables below do not show, and where Paybell is behind, they say so.

import type { RunReport } from './results-file.ts'
import type { Ratios, Row } from './summary.ts'
import { number, ratio } from './text.ts'

export function openingLines(report: RunReport): readonly string[] {
  return [
    speedLine(report),
    peerLine(report),
    costLine(report),
    targetLine(report),
    trustLine(report),
  ]
}

function ours(report: RunReport, feed: 'batch' | 'put'): Row | undefined {
  return report.rows.find(
    (row) => row.name === 'Paybell' && row.feed === feed && row.perSecond.slices > 0,
  )
}

function speedLine(report: RunReport): string {
  const rate = (feed: 'batch' | 'put') => number(ours(report, feed)?.perSecond.median ?? Number.NaN)
  return `**Speed.** ${rate('batch')} payments a second fed in batches and ${rate('put')} by single requests, each on disk before it is acknowledged, then signed and delivered; on ${report.machine.cores} cores that database, receiver and load generator share.`
}

function peerLine({ ratios }: RunReport): string {
  const compare = (found: Ratios | null, feeding: string) =>
    found === null || !Number.isFinite(found.toBestPeer)
      ? `${feeding} nothing was compared`
      : `${feeding} ${ratio(found.toBestPeer)} × ${found.bestPeer}${found.toBestPeer < 1 ? ' (behind it)' : ''}`
  return `**Against the best durable queue** that does the same job on the same machine: ${compare(ratios.batch, 'in batches')}; ${compare(ratios.put, 'by single requests')}.`
}

function costLine(report: RunReport): string {
  const cost = (feed: 'batch' | 'put') => {
    const row = ours(report, feed)
    return `${number(row?.cpu.system ?? Number.NaN, 3)} ms of processor time and ${number(row?.walBytesEach ?? Number.NaN)} bytes of write-ahead log`
  }
  const floor = report.ratios.batch?.toFloor ?? Number.NaN
  return `**Cost** of a delivery, service and database together: ${cost('batch')} in batches; ${cost('put')} by single requests. The bare POST without storing anything is the floor: in batches ${ratio(floor)} × of it is reached.`
}

function targetLine({ scenarios }: RunReport): string {
  const judged = scenarios.filter(({ isMet }) => isMet !== null)
  if (judged.length === 0) return '**Bad days** were no part of this run.'
  const missed = judged.filter(({ isMet }) => isMet === false)
  const names = missed.map(({ name }) => name).join('; ')
  return `**Bad days** (hanging endpoints, backlogs, kills, full memory): ${judged.length - missed.length} of ${judged.length} targets are met${missed.length === 0 ? '' : `. Missed: ${names}`}.`
}

function trustLine({ rows, timing }: RunReport): string {
  const sum = (pick: (row: Row) => number) => rows.reduce((total, row) => total + pick(row), 0)
  const slices = sum((row) => row.perSecond.slices)
  const wrong = sum((row) => row.discarded.missing) + sum((row) => row.discarded.duplicates)
  return `**Trust.** In each of the ${number(slices)} slices below every payment arrived, and arrived once; refused because one was missing or came twice: ${wrong}. A figure is the median of at most ${number(timing.rounds * timing.slices)} slices; all of a table come from one run.`
}
