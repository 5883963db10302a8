// What a chart is given.

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
  /** Bars, the first at the bottom and each on top of the one before, instead of curves. */
  isStacked?: boolean
  format(value: number | null): string
  /** The top of the axis, where it is not for the values to say. */
  max?: number
  height?: number
}
