// A new client with its first account. Its secret is in the answer and nowhere else, shown with a block that
// can be handed to the integrator as it is.

import { useState } from 'react'
import { api } from '../../api/client.ts'
import { useAction, useRefresh } from '../../api/hooks.ts'
import type { Account, NewClient } from '../../api/types.ts'
import { Link } from '../../ui/basics/link.tsx'
import { Field } from '../../ui/forms/field.tsx'
import { FormDialog } from '../../ui/forms/form-dialog.tsx'
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
  if (client !== null && !onboard.isPending) {
    return (
      <SecretOnce
        title={`${client.name} is onboarded`}
        clientId={client.clientId}
        clientSecret={client.clientSecret}
        accountId={account?.id ?? null}
        beside={<Link to={`/clients/${client.clientId}`}>Open the client</Link>}
        problem={onboard.error}
        onClose={onClose}
      />
    )
  }
  return (
    <FormDialog
      title="Onboard a client"
      action="Onboard"
      sending={onboard}
      onSubmit={(form) =>
        onboard.mutate({
          name: String(form.get('name')).trim(),
          accountName: String(form.get('accountName')).trim(),
        })
      }
      onClose={onClose}
    >
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
    </FormDialog>
  )
}
