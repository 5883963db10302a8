// Curves or bars over time, drawn by uPlot on a canvas. A canvas says nothing to a screen reader: the figure has
// a name, and a table below it, which can be opened, has the same numbers.

import { useEffect, useId, useMemo, useRef, useState } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import './chart.css'
import { useThemeCount } from '../forms/theme.tsx'
import { useZone } from '../times/zone.ts'
import { ChartLegend } from './chart-legend.tsx'
import { toData, toOptions } from './chart-options.ts'
import type { ChartProps } from './chart-props.ts'
import { ChartTable } from './chart-table.tsx'

export function Chart(props: ChartProps) {
  const { title, summary, times, curves, isStacked = false, format, max, height = 150 } = props
  const container = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const [hovered, setHovered] = useState<number | null>(null)
  const themeCount = useThemeCount()
  const zone = useZone()
  const id = useId()
  const shape = curves
    .map(({ name, colour, isFilled }) => [name, colour, isFilled].join())
    .join(';')
  const data = useMemo(() => toData(times, curves, isStacked), [times, curves, isStacked])
  const latest = useRef({ data, format })
  latest.current = { data, format }

  // biome-ignore lint/correctness/useExhaustiveDependencies: recreated only for another shape, theme or zone
  useEffect(() => {
    const host = container.current
    if (host === null) return
    const made = new uPlot(
      toOptions(host, curves, {
        height,
        max,
        isStacked,
        format: (value) => latest.current.format(value),
        onHover: setHovered,
      }),
      latest.current.data,
      host,
    )
    plot.current = made
    const observer = new ResizeObserver(() => {
      made.setSize({ width: host.clientWidth, height })
    })
    observer.observe(host)
    return () => {
      observer.disconnect()
      made.destroy()
      plot.current = null
    }
  }, [shape, isStacked, height, max, themeCount, zone])

  useEffect(() => {
    plot.current?.setData(data)
  }, [data])

  return (
    <figure className="chart">
      <figcaption className="visually-hidden" id={id}>
        {title}
      </figcaption>
      <ChartLegend times={times} curves={curves} format={format} hovered={hovered} />
      <div
        ref={container}
        role="img"
        aria-label={`${title}: ${summary}`}
        style={{ minHeight: height }}
      />
      <ChartTable labelledBy={id} times={times} curves={curves} format={format} />
    </figure>
  )
}
