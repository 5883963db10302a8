// Two plots as SVG, written by hand: bars of throughput, and latency percentiles on a logarithmic
// scale. Colours follow the reader's light or dark page.

import type { Percentiles } from '../harness/statistics.ts'
import type { Row } from './summary.ts'
import { number } from './text.ts'

const STYLE = `<style>
  text { font: 13px system-ui, sans-serif; fill: #24292f }
  .quiet { fill: #57606a; font-size: 12px }
  .title { font-weight: 600; font-size: 15px }
  .grid { stroke: #d0d7de; stroke-width: 1 }
  .ours { fill: #0969da; stroke: #0969da }
  .peer { fill: #8c959f; stroke: #8c959f }
  .floor { fill: #bf8700; stroke: #bf8700 }
  .spread { stroke: #24292f; stroke-width: 1.5 }
  .line { fill: none; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .quiet { fill: #9198a1 } .grid { stroke: #3d444d }
    .ours { fill: #4493f8; stroke: #4493f8 } .peer { fill: #656c76; stroke: #656c76 }
    .floor { fill: #d29922; stroke: #d29922 } .spread { stroke: #e6edf3 }
  }
</style>`

const WIDTH = 860
const LABEL_WIDTH = 280
const ROW_HEIGHT = 26

export function throughputPlot(rows: readonly Row[]): string {
  const shown = rows.filter((row) => row.perSecond.rounds > 0)
  const max = Math.max(1, ...shown.map((row) => row.perSecond.max))
  const x = (value: number) => LABEL_WIDTH + (value / max) * (WIDTH - LABEL_WIDTH - 90)
  const bars = shown.map((row, index) => {
    const y = 50 + index * ROW_HEIGHT
    const middle = y + 9
    const { median, min, max: most } = row.perSecond
    const label = row.feed === null ? row.name : `${row.name} (${row.feed})`
    return [
      text(LABEL_WIDTH - 10, y + 13, label, 'text-anchor="end"'),
      `<rect class="${kindOf(row)}" x="${LABEL_WIDTH}" y="${y}" width="${fixed(x(median) - LABEL_WIDTH)}" height="18" rx="2"/>`,
      `<path class="spread" d="M${fixed(x(min))} ${middle}H${fixed(x(most))}"/>`,
      text(x(most) + 8, y + 13, number(median), 'class="quiet"'),
    ].join('\n')
  })
  const height = 70 + shown.length * ROW_HEIGHT
  return svg('Durable deliveries per second, by system', height, [
    text(
      10,
      24,
      'Durable deliveries per second (median; line: least to greatest round)',
      'class="title"',
    ),
    ...bars,
  ])
}

export interface LatencySeries {
  label: string
  percentiles: Percentiles
}

const POINTS = [
  ['p50', 'p50'],
  ['p90', 'p90'],
  ['p99', 'p99'],
  ['p999', 'p99.9'],
] as const

export function latencyPlot(series: readonly LatencySeries[]): string {
  const values = series.flatMap(({ percentiles }) => POINTS.map(([key]) => percentiles[key]))
  const finite = values.filter((value) => Number.isFinite(value) && value > 0)
  const low = Math.floor(Math.log10(Math.min(1, ...finite)))
  const high = Math.ceil(Math.log10(Math.max(10, ...finite)))
  const plotHeight = 320
  const y = (ms: number) => 50 + plotHeight * (1 - (Math.log10(ms) - low) / (high - low))
  const x = (point: number) => 70 + point * 130
  const grid = Array.from({ length: high - low + 1 }, (_, index) => {
    const ms = 10 ** (low + index)
    return `<path class="grid" d="M60 ${fixed(y(ms))}H500"/>${text(50, y(ms) + 4, `${ms} ms`, 'class="quiet" text-anchor="end"')}`
  })
  const lines = series.map(({ label, percentiles }, index) => {
    const points = POINTS.map(([key], point) => `${fixed(x(point))},${fixed(y(percentiles[key]))}`)
    const dash = index === 0 ? '' : ` stroke-dasharray="${2 + index * 3} 4"`
    const labelY = 62 + index * 22
    return [
      `<polyline class="line ours" style="fill:none"${dash} points="${points.join(' ')}"/>`,
      `<path class="line ours"${dash} d="M530 ${labelY}h30"/>`,
      text(568, labelY + 4, label, 'class="quiet"'),
    ].join('\n')
  })
  return svg('Latency percentiles, from request to receiver', plotHeight + 90, [
    text(10, 24, 'From the request to the receiver, open loop (logarithmic)', 'class="title"'),
    ...grid,
    ...POINTS.map(([, label], point) =>
      text(x(point), plotHeight + 75, label, 'text-anchor="middle"'),
    ),
    ...lines,
  ])
}

function kindOf(row: Row): 'ours' | 'peer' | 'floor' {
  if (row.feed === null) return 'floor'
  return row.name.startsWith('Paybell') ? 'ours' : 'peer'
}

function svg(title: string, height: number, parts: readonly string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${title}">
<title>${title}</title>
${STYLE}
${parts.join('\n')}
</svg>
`
}

function text(x: number, y: number, content: string, attributes = ''): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `<text x="${fixed(x)}" y="${fixed(y)}" ${attributes}>${escaped}</text>`
}

function fixed(value: number): string {
  return value.toFixed(1)
}
