// Grey lines where something is about to be, in the shape of what comes: nothing jumps when it is there. Screen readers
// get the word instead.

import type { ReactNode } from 'react'

const WIDTHS = ['92%', '74%', '85%', '61%', '79%']
/** What the first line takes with the panel's edges, and each further one with the space above it. */
const FIRST_LINE_PX = 46
const LINE_PX = 26

/** In a panel: lines of text, or the rows of a table. */
export function Skeleton({ lines = 5, rows }: { lines?: number; rows?: number }) {
  return (
    <Waiting className={rows === undefined ? 'skeleton' : 'skeleton is-rows'}>
      <Lines count={rows ?? lines} />
    </Waiting>
  )
}

/** A whole page: the heights of its panels, those beside each other in one array. */
export function PageSkeleton({ panels }: { panels: readonly (readonly number[])[] }) {
  return (
    <Waiting className="skeleton-page">
      {panels.map((heights, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they never change places
        <div key={at}>
          {heights.map((height, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: they never change places
            <div key={index} className="panel skeleton" style={{ height }}>
              <Lines count={Math.floor((height - FIRST_LINE_PX) / LINE_PX) + 1} />
            </div>
          ))}
        </div>
      ))}
    </Waiting>
  )
}

function Waiting({ className, children }: { className: string; children: ReactNode }) {
  return (
    <div className={`loading ${className}`} role="status">
      <span className="visually-hidden">Loading…</span>
      {children}
    </div>
  )
}

function Lines({ count }: { count: number }) {
  return Array.from({ length: count }, (_, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all alike
    <i key={index} style={{ width: WIDTHS[index % WIDTHS.length] }} />
  ))
}
