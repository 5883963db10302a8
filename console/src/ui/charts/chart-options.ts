// What uPlot is told to draw: axes, colours, and the curves or stacked bars.

import uPlot from 'uplot'
import { currentZone, toZoneText } from '../times/zone.ts'
import type { ChartProps, Curve } from './chart-props.ts'

interface Look extends Pick<ChartProps, 'format'> {
  height: number
  max: number | undefined
  isStacked: boolean
  /** Which time the pointer is over. */
  onHover(index: number | null): void
}

/** Stacked bars hide what is below them, so the highest comes first: the sums, from all down to one. */
export function toData(
  times: readonly number[],
  curves: readonly Curve[],
  isStacked: boolean,
): uPlot.AlignedData {
  const seconds = times.map((ms) => ms / 1_000)
  if (!isStacked) return [seconds, ...curves.map(({ values }) => [...values])]
  const sums = curves.map((_, last) =>
    times.map((_, at) =>
      curves.slice(0, last + 1).reduce((sum, { values }) => sum + (values[at] ?? 0), 0),
    ),
  )
  return [seconds, ...sums.toReversed()]
}

export function toOptions(host: HTMLElement, curves: readonly Curve[], look: Look): uPlot.Options {
  const { height, max, isStacked, format, onHover } = look
  const colourOf = colourReader(host)
  const axis: uPlot.Axis = {
    stroke: colourOf('--muted'),
    grid: { stroke: colourOf('--line'), width: 1 },
    ticks: { stroke: colourOf('--line'), width: 1, size: 4 },
    font: '11px system-ui, sans-serif',
  }
  const drawn = isStacked ? curves.toReversed() : curves
  return {
    width: host.clientWidth,
    height,
    // Where an hour or a day begins.
    tzDate: (seconds) => {
      const date = new Date(seconds * 1_000)
      return currentZone() === 'UTC' ? uPlot.tzDate(date, 'Etc/UTC') : date
    },
    padding: [6, 20, 0, 0],
    cursor: { y: false, drag: { x: false, y: false }, points: { show: !isStacked, size: 6 } },
    legend: { show: false },
    hooks: { setCursor: [({ cursor }) => onHover(cursor.idx ?? null)] },
    scales: { y: { range: (_plot, _low, high) => [0, max ?? niceMax(high)] } },
    axes: [
      { ...axis, size: 28, space: 70, values: timeLabels },
      { ...axis, size: 56, space: 34, values: (_plot, values) => values.map((v) => format(v)) },
    ],
    series: [
      {},
      ...drawn.map(({ name, colour, isFilled }) => ({
        label: name,
        ...(isStacked ? toBars(colourOf(colour)) : toLine(colourOf(colour), isFilled ?? false)),
      })),
    ],
  }
}

function toBars(colour: string): uPlot.Series {
  const paths = uPlot.paths.bars?.({ size: [0.7, 28] })
  return {
    stroke: colour,
    fill: colour,
    width: 0,
    points: { show: false },
    ...(paths && { paths }),
  }
}

function toLine(colour: string, isFilled: boolean): uPlot.Series {
  return {
    stroke: colour,
    width: 1.5,
    // A line needs two: what stands alone is drawn as a point.
    points: { show: true, size: 4, filter: lonePoints },
    spanGaps: false,
    ...(isFilled ? { fill: withAlpha(colour) } : {}),
  }
}

function lonePoints(plot: uPlot, series: number): number[] {
  const values = plot.data[series] ?? []
  const isThere = (index: number) => values[index] !== null && values[index] !== undefined
  return [...values.keys()].filter(
    (index) => isThere(index) && !isThere(index - 1) && !isThere(index + 1),
  )
}

/** Hours within two days, otherwise dates. */
function timeLabels(_plot: uPlot, seconds: number[]): string[] {
  const shownSeconds = (seconds.at(-1) ?? 0) - (seconds[0] ?? 0)
  const style = shownSeconds > 2 * 86_400 ? 'day' : 'clock'
  return seconds.map((second) => toZoneText(new Date(second * 1_000), style))
}

/** An axis over nothing still has a height; its labels are whole numbers, which a lower one would repeat. */
function niceMax(high: number | null): number {
  return Math.max((high ?? 0) * 1.1, 4)
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
