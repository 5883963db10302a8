// When pending deliveries are due: the next 7 days, in shorter steps first. Bars and numbers are one
// table, so that a reader need not guess a height.

import type { Stats } from '../../api/types.ts'
import { Empty } from '../../ui/basics/messages.tsx'
import { Panel } from '../../ui/basics/page.tsx'
import { toCountText } from '../../ui/lists/numbers.ts'
import { toDurationText } from '../../ui/times/time.tsx'

export function DueTimes({ stats }: { stats: Stats }) {
  const { pendingByDue, pending } = stats
  const rows = [
    ...pendingByDue.map(({ from, to, count }) => ({ name: toName(stats.at, from, to), count })),
    { name: 'Waiting for the endpoint', count: pending.paused },
  ].filter(({ count }) => count > 0)
  const max = Math.max(1, ...rows.map(({ count }) => count))
  return (
    <Panel title="Pending by due time">
      {rows.length === 0 ? <Empty title="Nothing is pending" /> : null}
      <table className="due-times" aria-label="Pending by due time, over the coming 7 days">
        <thead className="visually-hidden">
          <tr>
            <th scope="col">Due</th>
            <th scope="col">Share</th>
            <th scope="col">Deliveries</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, count }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td aria-hidden="true">
                {count > 0 ? (
                  <div className="due-bar" style={{ width: `${(count / max) * 100}%` }} />
                ) : null}
              </td>
              <td className="num">{toCountText(count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  )
}

function toName(at: string, from: string | null, to: string | null): string {
  if (from === null) return 'Due now'
  const span = (until: string) => {
    const ms = Date.parse(until) - Date.parse(at)
    // Whole minutes: the answer is a few milliseconds younger than its bounds.
    return toDurationText(Math.round(ms / 60_000) * 60_000)
  }
  return to === null ? `After ${span(from)}` : `Within ${span(to)}`
}
