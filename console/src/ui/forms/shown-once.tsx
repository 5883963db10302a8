// A secret that is shown now and never again. Its dialog closes by its one button and not by accident.

import type { ReactNode } from 'react'
import { Button } from '../basics/button.tsx'
import { Copy } from '../basics/copy.tsx'
import { Notice } from '../basics/messages.tsx'
import { Dialog } from './dialog.tsx'

export function ShownOnce({
  title,
  word,
  label,
  secret,
  grants,
  beside,
  onClose,
  children,
}: {
  title: string
  /** What it is called in a sentence: "key". */
  word: string
  /** What it is called where it stands: "Operator key". */
  label: string
  secret: string
  /** What it lets its holder do: "act as the client". */
  grants: string
  /** Beside the button that closes. */
  beside?: ReactNode
  onClose(): void
  /** More to copy. */
  children?: ReactNode
}) {
  return (
    <Dialog title={title} isWide onClose={null}>
      <Notice tone="warn" title={`Copy the ${word} now: it is not shown again`}>
        Paybell stores only a hash of it. Anyone who has it can {grants}.
      </Notice>
      <div>
        <span className="field-label">{label}</span>
        <div>
          <code className="break" data-testid={label.toLowerCase().replace(' ', '-')}>
            {secret}
          </code>
          <Copy text={secret} label={`Copy the ${label.toLowerCase()}`} />
        </div>
      </div>
      {children}
      <div className="dialog-actions">
        {beside}
        <Button look="primary" onClick={onClose}>
          I have saved it
        </Button>
      </div>
    </Dialog>
  )
}
