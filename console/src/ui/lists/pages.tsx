// Below a list that has pages: which one this is, and buttons to its neighbours.

import type { Page } from '../../api/types.ts'
import { useFilters } from '../../router.ts'
import { Button } from '../basics/button.tsx'
import { toCountText } from './numbers.ts'

export function Pages({ of: { number, totalPages, totalElements } }: { of: Page<unknown> }) {
  const { setFilters } = useFilters()
  const go = (page: number) =>
    setFilters({ page: page === 0 ? null : String(page) }, { isPushing: true })
  return (
    <nav className="table-more" aria-label="Pages of the list">
      {totalPages > 1 ? (
        <>
          <Button disabled={number === 0} onClick={() => go(number - 1)}>
            Back
          </Button>
          <Button disabled={number + 1 >= totalPages} onClick={() => go(number + 1)}>
            Next
          </Button>
        </>
      ) : null}
      <span className="muted" aria-live="polite">
        {totalPages > 1 ? `Page ${number + 1} of ${totalPages}, ` : ''}
        {toCountText(totalElements)} in all
      </span>
    </nav>
  )
}
