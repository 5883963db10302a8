// What a page says when it has nothing to show, cannot show it, or does not have it yet.

import type { ReactNode } from 'react'
import type { ApiProblem } from '../../api/client.ts'
import { Code } from './copy.tsx'
import { PageSkeleton, Skeleton } from './skeleton.tsx'

/** Nothing there: says what would be, and how to make it so. */
export function Empty({
  title,
  children,
  curl,
}: {
  title: string
  children?: ReactNode
  /** A command to paste that makes the first one. */
  curl?: string
}) {
  return (
    <div className="empty">
      <h3>{title}</h3>
      {children ? <div className="muted">{children}</div> : null}
      {curl ? <Code text={curl} label="Copy the command" /> : null}
    </div>
  )
}

export function Notice({
  tone = 'info',
  title,
  children,
}: {
  tone?: 'good' | 'warn' | 'bad' | 'info'
  title: string
  children?: ReactNode
}) {
  return (
    <div className={`notice tone-${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      <strong>{title}</strong>
      {children ? <div>{children}</div> : null}
    </div>
  )
}

/** A refusal in the service's own words, with the page that explains it. */
export function Problem({ problem }: { problem: ApiProblem }) {
  return (
    <Notice tone="bad" title={problem.title}>
      {problem.detail}{' '}
      {problem.fields.map((field) => (
        <div key={field.pointer + field.code}>
          <code>{field.pointer}</code>: {field.detail}
        </div>
      ))}
      {problem.status >= 400 ? (
        <a href={`/problems/${problem.code}`} target="_blank" rel="noreferrer">
          What {problem.code} means
        </a>
      ) : null}
    </Notice>
  )
}

/**
 * Keeps the shape of what is read, and shows itself only when the wait is long enough to be noticed: the heights of a
 * page's `panels`, the `rows` of a table, or lines. Where there is no shape to keep, `what` is said in words.
 */
export function Loading({
  what,
  panels,
  ...shape
}: {
  what?: string
  panels?: readonly (readonly number[])[]
  rows?: number
  lines?: number
}) {
  if (panels !== undefined) return <PageSkeleton panels={panels} />
  if (what === undefined) return <Skeleton {...shape} />
  return (
    <p className="loading" role="status">
      {what}
    </p>
  )
}
