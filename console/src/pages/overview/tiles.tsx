import type { ReactNode } from 'react'
import type { Stats, StatsPeriod } from '../../api/types.ts'
import { Link } from '../../ui/basics/link.tsx'
import { toCountText, toShareText } from '../../ui/lists/numbers.ts'
import { toDurationText } from '../../ui/times/time.tsx'
import { PERIOD_WORDS, sumUp, sumUpDays } from './numbers.ts'

export function Tiles({ stats, period }: { stats: Stats; period: StatsPeriod }) {
  const { deliveries, pending, oldestDueAgeSeconds } = stats
  const { attempts, successRate } = sumUp(stats)
  const byDelivery = sumUpDays(stats)
  return (
    <ul className="tiles" aria-label="Now">
      <Tile name="Pending" value={toCountText(deliveries.PENDING)}>
        <Link to="/deliveries?state=PENDING">
          {toCountText(pending.due)} due, {toCountText(pending.scheduled)} scheduled,{' '}
          {toCountText(pending.paused)} waiting for the endpoint
        </Link>
      </Tile>
      <Tile
        name="Late by"
        value={oldestDueAgeSeconds < 1 ? '0 s' : toDurationText(oldestDueAgeSeconds * 1_000)}
      >
        {pending.due === 0 ? 'nothing is due' : 'since the oldest due delivery was due'}
      </Tile>
      <Tile name="Success by attempt" value={toShareText(successRate)}>
        of {toCountText(attempts)} in {PERIOD_WORDS[period]}
      </Tile>
      <Tile name="Success by delivery" value={toShareText(byDelivery.successRate)}>
        of {toCountText(byDelivery.ended)} that ended in 7 days; pending ones have not
      </Tile>
      <Tile name="Delivered" value={toCountText(deliveries.DELIVERED)}>
        <Link to="/deliveries?state=DELIVERED">in all history that is kept</Link>
      </Tile>
      <Tile name="Exhausted" value={toCountText(deliveries.EXHAUSTED)}>
        <Link to="/deliveries?state=EXHAUSTED">
          given up after 7 days, in all history that is kept
        </Link>
      </Tile>
    </ul>
  )
}

export function Tile({
  name,
  value,
  children,
}: {
  name: string
  value: string
  children?: ReactNode
}) {
  return (
    <li className="tile">
      <div className="tile-name">{name}</div>
      <div className="tile-value">{value}</div>
      <div className="tile-note">{children}</div>
    </li>
  )
}
