// Where a run leaves its traces: RESULTS.md, the plots, and all slices as JSON, which git ignores. A trial or a part
// of a run leaves only the JSON, so that the published table is always a whole one.

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import type { CellResult } from '../cells.ts'
import { overviewPlot } from './overview.ts'
import { latencyPlot } from './plots.ts'
import { type RunReport, resultsMarkdown } from './results-file.ts'

const HERE = new URL('../', import.meta.url)

export async function writeReport(
  report: RunReport,
  results: readonly CellResult[],
  isWhole: boolean,
): Promise<void> {
  const raw = new URL('results/', HERE)
  await mkdir(raw, { recursive: true })
  const stamp = report.date.replaceAll(/[^\d]/g, '')
  const cells = results.map(({ cell, ...result }) => ({
    name: cell.name,
    feed: cell.kind === 'delivery' ? cell.feed : null,
    ...result,
  }))
  const json = JSON.stringify({ ...report, cells }, null, 1)
  await writeFile(new URL(`${report.mode}-${stamp}.json`, raw), `${json}\n`)
  if (isWhole) await publish(report)
}

/** RESULTS.md, the picture beside it and the plots. What a person has to say about the figures stands in reading.md. */
export async function publish(report: RunReport): Promise<void> {
  const plots = new URL('plots/', HERE)
  await mkdir(plots, { recursive: true })
  const overview = overviewPlot(report.rows)
  if (overview !== null) await writeFile(new URL('overview.svg', HERE), overview)
  const latencies = report.scenarios.flatMap((scenario) => scenario.latencies)
  if (latencies.length > 0) await writeFile(new URL('latency.svg', plots), latencyPlot(latencies))
  const reading = await readFile(new URL('reading.md', HERE), 'utf8').catch(() => '')
  await writeFile(new URL('RESULTS.md', HERE), resultsMarkdown(report, reading))
}
