// A new operator's key. It is in the answer and nowhere else, so the dialog does not close by accident.

import type { FormEvent } from 'react'
import { api } from '../../api/client.ts'
import { useAction, useRefresh } from '../../api/hooks.ts'
import type { NewOperatorKey, Role } from '../../api/types.ts'
import { Button } from '../../ui/button.tsx'
import { Copy } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { Notice, Problem } from '../../ui/messages.tsx'

/** The least powerful first. */
const ROLES: readonly (readonly [role: Role, text: string])[] = [
  ['viewer', 'viewer: reads everything, changes nothing'],
  ['auditor', 'auditor: reads the audit and nothing else'],
  ['ingest', 'ingest: writes payments, reads nothing'],
  ['admin', 'admin: may do everything'],
]

export function NewKey({ onClose }: { onClose(): void }) {
  const refresh = useRefresh()
  const make = useAction(
    (body: { name: string; role: string }) => api.post<NewOperatorKey>('/operator/v1/keys', body),
    { onDone: () => refresh('/operator/v1/keys') },
  )
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    make.mutate({ name: String(form.get('name')).trim(), role: String(form.get('role')) })
  }
  if (make.data) return <KeyOnce made={make.data} onClose={onClose} />
  return (
    <Dialog title="Create an operator key" onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <Field
          name="name"
          label="Name"
          hint="Of the person or program that will use it. The audit shows it."
          placeholder="payments-core"
          maxLength={100}
          required
        />
        <Select name="role" label="Role" options={ROLES} />
        {make.error ? <Problem problem={make.error} /> : null}
        <div className="dialog-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={make.isPending}>
            Create
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function KeyOnce({
  made: { name, role, key },
  onClose,
}: {
  made: NewOperatorKey
  onClose(): void
}) {
  return (
    <Dialog title={`The key of ${name}`} onClose={() => {}}>
      <Notice tone="warn" title="Copy the key now: it is not shown again">
        Paybell stores only a hash of it. Anyone who has it can act as {name}, with the role {role}.
      </Notice>
      <div>
        <span className="field-label">Operator key</span>
        <div>
          <code className="break" data-testid="operator-key">
            {key}
          </code>
          <Copy text={key} label="Copy the operator key" />
        </div>
      </div>
      <div className="dialog-actions">
        <Button look="primary" onClick={onClose}>
          I have saved it
        </Button>
      </div>
    </Dialog>
  )
}
