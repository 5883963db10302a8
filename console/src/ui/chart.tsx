// Curves over time, drawn by uPlot on a canvas. A canvas says nothing to a screen reader: the figure has a
// name, and a table below it, which can be opened, has the same numbers.

import { useEffect, useId, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import './chart.css'
import { useThemeCount } from './theme.tsx'
import { toTimeText } from './time.tsx'
import { currentZone, toZoneText, useZone } from './zone.ts'

export interface Curve {
  name: string
  /** A variable of variables.css: `--good`. */
  colour: string
  values: readonly (number | null)[]
  isFilled?: boolean
}

export interface ChartProps {
  title: string
  /** What the curves say, in words: "12 a minute now, at most 40". */
  summary: string
  /** Unix milliseconds, rising. */
  times: readonly number[]
  curves: readonly Curve[]
  format(value: number | null): string
  /** The top of the axis, where it is not for the values to say. */
  max?: number
  height?: number
}

export function Chart({ title, summary, times, curves, format, max, height = 150 }: ChartProps) {
  const container = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const latestFormat = useRef(format)
  const themeCount = useThemeCount()
  const zone = useZone()
  const id = useId()
  const shape = curves
    .map(({ name, colour, isFilled }) => [name, colour, isFilled].join())
    .join(';')
  const data = toData(times, curves)
  const latestData = useRef(data)
  latestFormat.current = format
  latestData.current = data

  // biome-ignore lint/correctness/useExhaustiveDependencies: recreated only for another shape, theme or zone
  useEffect(() => {
    const host = container.current
    if (host === null) return
    const made = new uPlot(
      toOptions(host, curves, { height, max, format: (value) => latestFormat.current(value) }),
      latestData.current,
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
  }, [shape, height, max, themeCount, zone])

  useEffect(() => {
    plot.current?.setData(data)
  })

  return (
    <figure className="chart">
      <figcaption className="visually-hidden" id={id}>
        {title}
      </figcaption>
      <div
        ref={container}
        role="img"
        aria-label={`${title}: ${summary}`}
        style={{ minHeight: height }}
      />
      <details className="chart-table">
        <summary>As a table</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
        <section className="chart-rows" aria-labelledby={id} tabIndex={0}>
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
    </figure>
  )
}

function toData(times: readonly number[], curves: readonly Curve[]): uPlot.AlignedData {
  return [times.map((ms) => ms / 1_000), ...curves.map(({ values }) => [...values])]
}

function toOptions(
  host: HTMLElement,
  curves: readonly Curve[],
  { height, max, format }: { height: number; max: number | undefined } & Pick<ChartProps, 'format'>,
): uPlot.Options {
  const colourOf = colourReader(host)
  const axis: uPlot.Axis = {
    stroke: colourOf('--muted'),
    grid: { stroke: colourOf('--line'), width: 1 },
    ticks: { stroke: colourOf('--line'), width: 1, size: 4 },
    font: '11px system-ui, sans-serif',
  }
  return {
    width: host.clientWidth,
    height,
    // Where a day or an hour begins.
    tzDate: (seconds) => {
      const date = new Date(seconds * 1_000)
      return currentZone() === 'UTC' ? uPlot.tzDate(date, 'Etc/UTC') : date
    },
    padding: [6, 20, 0, 0],
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
    legend: { live: true, markers: { width: 8 } },
    scales: { y: { range: (_plot, _low, high) => [0, max ?? niceMax(high)] } },
    axes: [
      { ...axis, size: 28, space: 70, values: timeLabels },
      { ...axis, size: 56, space: 34, values: (_plot, values) => values.map((v) => format(v)) },
    ],
    series: [
      { label: 'Time', value: (_plot, seconds) => toCursorText(seconds) },
      ...curves.map(({ name, colour, isFilled }) => ({
        label: name,
        stroke: colourOf(colour),
        width: 1.5,
        // A line needs two: what stands alone is drawn as a point.
        points: { show: true, size: 4, filter: lonePoints },
        spanGaps: false,
        value: (_plot: uPlot, value: number | null) => format(value),
        ...(isFilled ? { fill: withAlpha(colourOf(colour)) } : {}),
      })),
    ],
  }
}

function lonePoints(plot: uPlot, series: number): number[] {
  const values = plot.data[series] ?? []
  const isThere = (index: number) => values[index] !== null && values[index] !== undefined
  return [...values.keys()].filter(
    (index) => isThere(index) && !isThere(index - 1) && !isThere(index + 1),
  )
}

function toCursorText(seconds: number | null): string {
  return seconds === null ? '–' : toTimeText(new Date(seconds * 1_000), 'short')
}

/** Hours within two days, otherwise dates. */
function timeLabels(_plot: uPlot, seconds: number[]): string[] {
  const span = (seconds.at(-1) ?? 0) - (seconds[0] ?? 0)
  const style = span > 2 * 86_400 ? 'day' : 'clock'
  return seconds.map((second) => toZoneText(new Date(second * 1_000), style))
}

/** An axis over nothing still has a height. */
function niceMax(high: number | null): number {
  return high === null || high <= 0 ? 1 : high * 1.1
}

/** The canvas takes no CSS variables: the computed style of an element with the colour has its value. */
function colourReader(host: HTMLElement): (name: string) => string {
  return (name) => {
    const probe = document.createElement('span')
    probe.style.color = `var(${name})`
    host.append(probe)
    const { color } = getComputedStyle(probe)
    probe.remove()
    return color
  }
}

function withAlpha(colour: string): string {
  return colour.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.12)')
}
