// Folds all filters but the first away on a small screen; on others there is nothing to fold.

import { useState } from 'react'
import { Button } from '../basics/button.tsx'

/** `isSet`: what narrows the list is not hidden. */
export function useFolded(isSet: boolean) {
  const [isFolded, setFolded] = useState(!isSet)
  return {
    className: isFolded ? ' is-folded' : '',
    toggle: (
      <Button
        className="filter-toggle"
        aria-expanded={!isFolded}
        onClick={() => setFolded(!isFolded)}
      >
        {isFolded ? 'More filters' : 'Fewer filters'}
      </Button>
    ),
  }
}
