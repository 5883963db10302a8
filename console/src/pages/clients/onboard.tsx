// A new client with its first account. Its secret is in the answer and nowhere else: the dialog does not
// close by accident, and has a block that can be handed to the integrator as it is.

import { type FormEvent, useState } from 'react'
import { api } from '../../api/client.ts'
import { useAction, useRefresh } from '../../api/hooks.ts'
import type { Account, NewClient } from '../../api/types.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Link } from '../../ui/link.tsx'
import { Problem } from '../../ui/messages.tsx'
import { SecretOnce } from './secret-once.tsx'

export function Onboard({ onClose }: { onClose(): void }) {
  const refresh = useRefresh()
  const [client, setClient] = useState<NewClient | null>(null)
  const [account, setAccount] = useState<Account | null>(null)
  const onboard = useAction(
    async ({ name, accountName }: { name: string; accountName: string }) => {
      // The client is kept at once: if its account then fails, its secret is not lost.
      const made = client ?? (await api.post<NewClient>('/operator/v1/clients', { name }))
      setClient(made)
      const path = `/operator/v1/clients/${made.clientId}/accounts`
      setAccount(await api.post<Account>(path, { name: accountName }))
    },
    { onDone: () => refresh('/operator/v1/clients') },
  )
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    onboard.mutate({
      name: String(form.get('name')).trim(),
      accountName: String(form.get('accountName')).trim(),
    })
  }
  if (client !== null && !onboard.isPending) {
    return (
      <Dialog title={`${client.name} is onboarded`} onClose={() => {}}>
        {onboard.error ? <Problem problem={onboard.error} /> : null}
        <SecretOnce
          clientId={client.clientId}
          clientSecret={client.clientSecret}
          accountId={account?.id ?? null}
        />
        <div className="dialog-actions">
          <Link to={`/clients/${client.clientId}`}>Open the client</Link>
          <Button look="primary" onClick={onClose}>
            I have saved it
          </Button>
        </div>
      </Dialog>
    )
  }
  return (
    <Dialog title="Onboard a client" onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <Field
          name="name"
          label="Name of the client"
          placeholder="Northwind Traders"
          maxLength={200}
          required
        />
        <Field
          name="accountName"
          label="Name of its first account"
          defaultValue="Main account"
          maxLength={200}
          required
        />
        {onboard.error ? <Problem problem={onboard.error} /> : null}
        <div className="dialog-actions">
          <Button onClick={onClose}>Close</Button>
          <Button type="submit" look="primary" disabled={onboard.isPending}>
            Onboard
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
