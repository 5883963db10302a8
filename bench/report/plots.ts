// Latency percentiles as SVG, on a logarithmic scale.

import type { Percentiles } from '../harness/statistics.ts'
import { fixed, svg, text } from './svg.ts'

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
