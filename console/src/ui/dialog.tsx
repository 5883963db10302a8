// Modal dialogs: the platform's own <dialog>, which keeps the focus inside and gives it back.

import { type ReactNode, useEffect, useId, useRef } from 'react'
import { Button } from './button.tsx'

/** Rendered while it is open: `{isAsking && <Dialog …/>}`. Escape closes it. */
export function Dialog({
  title,
  isWide = false,
  onClose,
  children,
}: {
  title: string
  /** For a table or lines of code. */
  isWide?: boolean
  onClose(): void
  children: ReactNode
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const shown = dialog.current
    if (shown && !shown.open) shown.showModal()
    return () => shown?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      className={isWide ? 'dialog is-wide' : 'dialog'}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
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
  isWide?: boolean
  onConfirm(): void
  onClose(): void
  children?: ReactNode
}) {
  return (
    <Dialog title={title} isWide={isWide} onClose={onClose}>
      {children}
      <div className="dialog-actions">
        <Button onClick={onClose}>{dismiss}</Button>
        <Button look={isDanger ? 'danger' : 'primary'} onClick={onConfirm} disabled={isBusy}>
          {isBusy ? 'Working…' : action}
        </Button>
      </div>
    </Dialog>
  )
}
