// A form in a dialog: fields, what is wrong with the whole, a way out and the button that sends it.

import type { ReactNode } from 'react'
import type { ApiProblem } from '../../api/client.ts'
import { Button } from '../basics/button.tsx'
import { Problem } from '../basics/messages.tsx'
import { Dialog } from './dialog.tsx'

export function FormDialog({
  title,
  action,
  sending,
  marksFields = false,
  onSubmit,
  onClose,
  children,
}: {
  title: string
  /** What the button says: the verb, and the object where it is not in the title. */
  action: string
  /** The call that the form makes. */
  sending: { error: ApiProblem | null; isPending: boolean }
  /** Fields show what is wrong with them: then it is not said again below. */
  marksFields?: boolean
  onSubmit(form: FormData): void
  onClose(): void
  children: ReactNode
}) {
  const { error, isPending } = sending
  const isSaid = marksFields && (error?.fields.length ?? 0) > 0
  return (
    // While it is sent there is no way out: the answer may hold a secret that is shown once.
    <Dialog title={title} onClose={isPending ? null : onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          onSubmit(new FormData(event.currentTarget))
        }}
      >
        {children}
        {error && !isSaid ? <Problem problem={error} /> : null}
        <div className="dialog-actions">
          <Button onClick={onClose} disabled={isPending}>
            Cancel
          </Button>
          <Button type="submit" look="primary" disabled={isPending}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
