// A link that signs a person in here as the client, once: no one has to type the secret of a machine into a
// browser.

import { useEffect, useRef, useState } from 'react'
import { api } from '../../api/client.ts'
import { useAction } from '../../api/hooks.ts'
import type { ClientWithSecrets, ConsoleLink } from '../../api/types.ts'
import { Button } from '../../ui/basics/button.tsx'
import { Code } from '../../ui/basics/copy.tsx'
import { Notice, Problem } from '../../ui/basics/messages.tsx'
import { Dialog } from '../../ui/forms/dialog.tsx'
import { Time } from '../../ui/times/time.tsx'

export function ConsoleLinkButton({ client, path }: { client: ClientWithSecrets; path: string }) {
  const [isOpen, setOpen] = useState(false)
  const make = useAction<void, ConsoleLink>(() => api.post(`${path}/console-links`))
  const close = () => {
    setOpen(false)
    make.reset()
  }
  return (
    <>
      <Button onClick={() => setOpen(true)}>Console link…</Button>
      {isOpen ? (
        <Dialog title={`Console link for ${client.name}`} onClose={close}>
          <p>
            A link that signs a person in to this console as {client.name}. It works once, within 15
            minutes.
          </p>
          {make.error ? <Problem problem={make.error} /> : null}
          {make.data ? <Made link={make.data} /> : null}
          <div className="dialog-actions">
            <Button onClick={close}>Close</Button>
            {make.data ? null : (
              <Button look="primary" disabled={make.isPending} onClick={() => make.mutate()}>
                Create link
              </Button>
            )}
          </div>
        </Dialog>
      ) : null}
    </>
  )
}

function Made({ link: { url, expiresAt } }: { link: ConsoleLink }) {
  const made = useRef<HTMLDivElement>(null)
  // The button that made it is gone, and with it the focus.
  useEffect(() => made.current?.querySelector('button')?.focus(), [])
  return (
    <>
      <div ref={made}>
        <Code text={url} label="Copy the link" />
      </div>
      <Notice tone="warn" title="Copy the link now: it is not shown again">
        Anyone who has it can use it, so send it as you would send a password. It expires{' '}
        <Time at={expiresAt} as="relative" />.
      </Notice>
    </>
  )
}
