// What a call changed: each field with its value before and after.

import type { AuditChange } from '../../api/types.ts'

export function Changes({ of }: { of: readonly AuditChange[] }) {
  if (of.length === 0) return <span className="muted">–</span>
  return (
    <ul>
      {of.map(({ field, before, after }) => (
        <li key={field} className="break">
          <span className="muted">{field}</span>{' '}
          {before === null ? null : (
            <>
              <span className="visually-hidden">from </span>
              <del>{before}</del>
              <span aria-hidden="true"> → </span>
              <span className="visually-hidden">to </span>
            </>
          )}
          {after === null ? <span className="muted">removed</span> : after}
        </li>
      ))}
    </ul>
  )
}
