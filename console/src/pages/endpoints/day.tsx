// The last 24 hours of an endpoint as small bars: what was delivered, and above it what failed.

import type { EndpointHour } from '../../api/types.ts'
import { toCountText, toShareText } from '../../ui/lists/numbers.ts'
import './day.css'

const HOUR_MS = 3_600_000
const HOURS = 24
const HEIGHT = 24

export function Day({ hours }: { hours: readonly EndpointHour[] | undefined }) {
  if (hours === undefined) return <span className="muted">–</span>
  const attempts = hours.reduce((sum, hour) => sum + hour.attempts, 0)
  if (attempts === 0) return <span className="muted">no attempts</span>
  const delivered = hours.reduce((sum, hour) => sum + hour.delivered, 0)
  const label = `${toCountText(attempts)} attempts in 24 hours, ${toShareText(delivered / attempts)} delivered`
  const max = Math.max(...hours.map((hour) => hour.attempts))
  const firstMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - (HOURS - 1) * HOUR_MS
  return (
    <svg className="day" viewBox={`0 0 ${HOURS * 4} ${HEIGHT}`} role="img" aria-label={label}>
      <title>{label}</title>
      <path className="day-base" d={`M0 ${HEIGHT - 0.5}H${HOURS * 4}`} />
      {hours.map(({ at, attempts, delivered }) => {
        const x = ((Date.parse(at) - firstMs) / HOUR_MS) * 4
        const good = (delivered / max) * (HEIGHT - 2)
        // At least 2 high: a few failures among many must show.
        const bad = delivered === attempts ? 0 : Math.max(2, (attempts / max) * (HEIGHT - 2) - good)
        return (
          <g key={at}>
            <rect className="day-good" x={x} y={HEIGHT - good} width={3} height={good} />
            <rect className="day-bad" x={x} y={HEIGHT - good - bad} width={3} height={bad} />
          </g>
        )
      })}
    </svg>
  )
}
