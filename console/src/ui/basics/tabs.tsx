// The parts of one page, one of which is in sight: links, so that each part has its address and the back button works.

import type { ReactNode } from 'react'
import { currentLocation, toQuery, useLocation } from '../../router.ts'
import { Link } from './link.tsx'

/** The first one is what the address without a tab leads to. */
export type TabNames = readonly (readonly [tab: string, text: string])[]

/** Where a part of the page in sight is; of the query only what `keeps` names goes along. */
export function toTab(
  tab: string,
  keeps: readonly string[],
  more: Readonly<Record<string, string>> = {},
): string {
  const { path, query } = currentLocation()
  const kept = Object.fromEntries(keeps.map((name) => [name, query.get(name)]))
  return path + toQuery({ ...kept, tab, ...more })
}

/** An address with a tab that there is none of shows the first one. */
export function useTab(tabs: TabNames): string {
  const wanted = useLocation().query.get('tab') ?? ''
  return tabs.some(([tab]) => tab === wanted) ? wanted : ''
}

export function Tabs({
  label,
  of,
  current,
  keeps,
}: {
  label: string
  of: TabNames
  current: string
  keeps: readonly string[]
}) {
  return (
    <nav className="tabs" aria-label={label}>
      {of.map(([tab, text]) => (
        <Link key={tab} to={toTab(tab, keeps)} aria-current={tab === current ? 'page' : undefined}>
          {text}
        </Link>
      ))}
    </nav>
  )
}

/** Out of sight it stays as it is: what was filled in, and what was found, is there when one comes back. */
export function Tab({ isCurrent, children }: { isCurrent: boolean; children: ReactNode }) {
  return (
    <div className="tab" hidden={!isCurrent}>
      {children}
    </div>
  )
}
