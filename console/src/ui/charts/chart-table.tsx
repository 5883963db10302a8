// The numbers of a chart as a table.

import { toTimeText } from '../times/time.tsx'
import type { ChartProps } from './chart-props.ts'

export function ChartTable({
  labelledBy,
  times,
  curves,
  format,
}: Pick<ChartProps, 'times' | 'curves' | 'format'> & { labelledBy: string }) {
  return (
    <details className="chart-table">
      <summary>As a table</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className="chart-rows" aria-labelledby={labelledBy} tabIndex={0}>
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Time</th>
              {curves.map(({ name }) => (
                <th key={name} scope="col" className="num">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {times.map((time, index) => (
              <tr key={time}>
                <th scope="row">{toTimeText(new Date(time), 'short')}</th>
                {curves.map(({ name, values }) => (
                  <td key={name} className="num">
                    {format(values[index] ?? null)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </details>
  )
}
