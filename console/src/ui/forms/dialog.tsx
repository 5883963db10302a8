// Modal dialogs: the platform's own <dialog>, which keeps the focus inside. They begin at a field or a
// button and leave the focus where it was, or near.

import { type ReactNode, useId, useLayoutEffect, useRef } from 'react'
import { Button } from '../basics/button.tsx'
import { giveFocusBack } from './give-focus-back.ts'

const FIELD = 'input:enabled, select:enabled, textarea:enabled'

/** Rendered while it is open: `{isAsking && <Dialog …/>}`. Escape closes it, unless `onClose` is null. */
export function Dialog({
  title,
  isWide = false,
  onClose,
  children,
}: {
  title: string
  /** For a table or lines of code. */
  isWide?: boolean
  /** Null: only what is inside closes it. */
  onClose: (() => void) | null
  children: ReactNode
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  // Closed before it leaves the page: one that has left it gives no focus back.
  useLayoutEffect(() => {
    const shown = dialog.current
    if (shown && !shown.open) {
      shown.showModal()
      // Not at a link, which leads away from the question; of the buttons below, the safe one is first.
      const first = shown.querySelector<HTMLElement>(FIELD) ?? shown.querySelector('button:enabled')
      first?.focus({ preventScroll: true })
      // On a small screen the browser has scrolled to the first link or button, past the title.
      shown.scrollTop = 0
    }
    return () => {
      shown?.close()
      giveFocusBack()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      className={isWide ? 'dialog is-wide' : 'dialog'}
      aria-labelledby={id}
      closedby={onClose ? 'closerequest' : 'none'}
      onCancel={(event) => {
        event.preventDefault()
        onClose?.()
      }}
      onClose={() => {
        // A browser that does not know `closedby` closes it at the second Escape in a row, prevented or not.
        const shown = dialog.current
        if (shown === null || shown.open) return
        if (onClose) onClose()
        else shown.showModal()
      }}
    >
      <div>
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  )
}

/** A question before something that cannot simply be undone. */
export function Confirm({
  title,
  action,
  dismiss = 'Cancel',
  isDanger = false,
  isBusy = false,
  isReady = true,
  isWide = false,
  onConfirm,
  onClose,
  children,
}: {
  title: string
  /** What the button says: the verb and the object, "Replay 14 deliveries". */
  action: string
  /** What the other button says. Where the action itself is to cancel, "Cancel" would be ambiguous. */
  dismiss?: string
  isDanger?: boolean
  isBusy?: boolean
  /** It can be confirmed: what it would do is counted. */
  isReady?: boolean
  isWide?: boolean
  onConfirm(): void
  onClose(): void
  children?: ReactNode
}) {
  return (
    // What was sent cannot be taken back: while it is under way there is nothing to dismiss.
    <Dialog title={title} isWide={isWide} onClose={isBusy ? null : onClose}>
      {children}
      <div className="dialog-actions">
        <Button onClick={onClose} disabled={isBusy}>
          {dismiss}
        </Button>
        <Button
          look={isDanger ? 'danger' : 'primary'}
          onClick={onConfirm}
          disabled={isBusy || !isReady}
        >
          {isBusy ? 'Working…' : action}
        </Button>
      </div>
    </Dialog>
  )
}
