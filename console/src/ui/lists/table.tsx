// A table that becomes a list of cards on a small screen. The roles are written out, because a display
// other than `table` takes them away.

import type { ReactNode } from 'react'
import { Button } from '../basics/button.tsx'

export interface Column<T> {
  /** Empty for a column of actions: it has a name for screen readers only. */
  head: string
  /** The name when `head` is empty. */
  name?: string
  cell(row: T): ReactNode
  isNumber?: boolean
  /** What the service can sort by it: `name`. */
  sort?: string
}

export function Table<T>({
  label,
  columns,
  rows,
  keyOf,
  sort = '',
  onSort = () => {},
}: {
  label: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  keyOf(row: T): string
  /** What the rows are sorted by; `-name` is the other way round. */
  sort?: string
  onSort?(sort: string): void
}) {
  return (
    <div className="table-scroll">
      {/* biome-ignore-start lint/a11y/noRedundantRoles: see above */}
      {/* biome-ignore-start lint/a11y/useSemanticElements: see above */}
      <table className="table is-stacking" aria-label={label} role="table">
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column, index) => (
              <th
                key={column.head || index}
                scope="col"
                role="columnheader"
                className={classOf(column)}
                aria-sort={sortOf(column, sort)}
              >
                {column.sort === undefined ? (
                  column.head || <span className="visually-hidden">{column.name ?? 'Actions'}</span>
                ) : (
                  <SortButton head={column.head} by={column.sort} sort={sort} onSort={onSort} />
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={keyOf(row)} role="row">
              {columns.map((column, index) => (
                <td
                  key={column.head || index}
                  role="cell"
                  data-label={column.head}
                  className={classOf(column)}
                >
                  {/* One child, so that the card's two columns hold. */}
                  <div>{column.cell(row)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {/* biome-ignore-end lint/a11y/useSemanticElements: see above */}
      {/* biome-ignore-end lint/a11y/noRedundantRoles: see above */}
    </div>
  )
}

/** Actions stand at the right edge. */
function classOf<T>({ head, isNumber }: Column<T>): string | undefined {
  return isNumber ? 'num' : head === '' ? 'actions' : undefined
}

function sortOf<T>(column: Column<T>, sort: string): 'ascending' | 'descending' | undefined {
  if (column.sort === undefined) return undefined
  if (sort === column.sort) return 'ascending'
  return sort === `-${column.sort}` ? 'descending' : undefined
}

/** The first press sorts by it, the next one turns it round. */
function SortButton({
  head,
  by,
  sort,
  onSort,
}: {
  head: string
  by: string
  sort: string
  onSort(sort: string): void
}) {
  const mark = sort === by ? '↑' : sort === `-${by}` ? '↓' : '↕'
  return (
    <button
      type="button"
      className="sort-button"
      onClick={() => onSort(sort === by ? `-${by}` : by)}
    >
      {head} <span aria-hidden="true">{mark}</span>
    </button>
  )
}

/** Below a list of cursors. */
export function More({
  hasMore,
  isLoading,
  onMore,
  shown,
}: {
  hasMore: boolean
  isLoading: boolean
  onMore(): void
  shown: number
}) {
  return (
    <div className="table-more">
      {hasMore ? (
        <Button onClick={onMore} disabled={isLoading}>
          {isLoading ? 'Loading…' : 'Show more'}
        </Button>
      ) : null}
      <span className="muted" aria-live="polite">
        {shown} shown{hasMore ? '' : ', end of list'}
      </span>
    </div>
  )
}
