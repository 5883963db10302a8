// Which colour is which; while the pointer is over the chart, also the values at that time.

import { toTimeText } from '../times/time.tsx'
import type { ChartProps } from './chart-props.ts'

export function ChartLegend({
  times,
  curves,
  format,
  hovered,
}: Pick<ChartProps, 'times' | 'curves' | 'format'> & { hovered: number | null }) {
  const time = hovered === null ? undefined : times[hovered]
  return (
    // The table below has the values for those who cannot point.
    <div className="chart-legend" aria-hidden="true">
      {curves.map(({ name, colour, values }) => (
        <span key={name} className="nowrap">
          <i style={{ background: `var(${colour})` }} />
          {name}
          {time === undefined ? null : <strong>{format(values[hovered ?? 0] ?? null)}</strong>}
        </span>
      ))}
      {time === undefined ? null : (
        <span className="chart-legend-time nowrap">{toTimeText(new Date(time), 'short')}</span>
      )}
    </div>
  )
}
