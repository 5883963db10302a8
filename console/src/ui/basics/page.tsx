// What every page begins with and is divided into.

import { type ReactNode, useEffect, useRef } from 'react'
import { hasNavigated } from '../../router.ts'
import { brand } from './brand.ts'

export function PageHead({
  title,
  above,
  children,
}: {
  title: string
  /** The way back, mostly: `<Link to="/deliveries">Deliveries</Link>`. */
  above?: ReactNode
  /** Actions, at the right. */
  children?: ReactNode
}) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · ${brand.name}`
  }, [title])
  // The focus makes a screen reader announce the new page; at the first load the browser has done so.
  useEffect(() => {
    if (hasNavigated()) heading.current?.focus({ preventScroll: true })
  }, [])
  return (
    <header className="page-head">
      {above ? <div className="above">{above}</div> : null}
      <h1 tabIndex={-1} ref={heading}>
        {title}
      </h1>
      {children ? <div className="row">{children}</div> : null}
    </header>
  )
}

/** A part of a page with a heading; `isFlush` lets a table reach the edges. */
export function Panel({
  title,
  aside,
  isFlush = false,
  children,
}: {
  title: string
  aside?: ReactNode
  isFlush?: boolean
  children: ReactNode
}) {
  return (
    <section className="panel" aria-label={title}>
      <div className="panel-head">
        <h2>{title}</h2>
        {aside ? <div className="row">{aside}</div> : null}
      </div>
      {isFlush ? children : <div className="panel-body">{children}</div>}
    </section>
  )
}

/** Names and values: `<Facts of={[['Created', <Time at={…} />], …]} />`. */
export function Facts({ of }: { of: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="facts">
      {of.map(([name, value]) => (
        <div key={name} style={{ display: 'contents' }}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
