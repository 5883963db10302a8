// The button in the navigation of every page, and the keys, that open the box which finds anything.

import { useEffect, useState } from 'react'
import { Button } from '../ui/basics/button.tsx'
import { Icon } from '../ui/basics/icon.tsx'
import { FindDialog } from './find-dialog.tsx'
import './find.css'

export function Find() {
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      if (!isFindKey(event) || document.querySelector('dialog[open]')) return
      event.preventDefault()
      setOpen(true)
    }
    window.addEventListener('keydown', open)
    return () => window.removeEventListener('keydown', open)
  }, [])
  return (
    <>
      <Button
        className="find-button"
        aria-haspopup="dialog"
        aria-keyshortcuts="/ Control+K Meta+K"
        onClick={() => setOpen(true)}
      >
        <span className="find-name">
          <Icon name="search" />
          <span>
            Find<span className="rest"> anything</span>
          </span>
        </span>
        <span className="key" aria-hidden="true">
          /
        </span>
      </Button>
      {isOpen ? <FindDialog onClose={() => setOpen(false)} /> : null}
    </>
  )
}

/** A slash where one types is a slash. */
function isFindKey({ key, ctrlKey, metaKey, altKey, target }: KeyboardEvent): boolean {
  if (altKey) return false
  if (ctrlKey || metaKey) return key.toLowerCase() === 'k'
  return key === '/' && !(target as Element).closest?.('input, textarea, select')
}
