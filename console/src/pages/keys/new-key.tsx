// A new operator's key. It is in the answer and nowhere else.

import { api } from '../../api/client.ts'
import { useAction, useRefresh } from '../../api/hooks.ts'
import type { NewOperatorKey, Role } from '../../api/types.ts'
import { Field, Select } from '../../ui/forms/field.tsx'
import { FormDialog } from '../../ui/forms/form-dialog.tsx'
import { ShownOnce } from '../../ui/forms/shown-once.tsx'

/** The least powerful first. */
const ROLES: readonly (readonly [role: Role, text: string])[] = [
  ['viewer', 'viewer: reads everything'],
  ['auditor', 'auditor: reads only the audit'],
  ['ingest', 'ingest: only writes payments'],
  ['admin', 'admin: may do everything'],
]

export function NewKey({ onClose }: { onClose(): void }) {
  const refresh = useRefresh()
  const make = useAction(
    (body: { name: string; role: string }) => api.post<NewOperatorKey>('/operator/v1/keys', body),
    { onDone: () => refresh('/operator/v1/keys') },
  )
  if (make.data) {
    const { name, role, key } = make.data
    return (
      <ShownOnce
        title={`The key of ${name}`}
        word="key"
        label="Operator key"
        secret={key}
        grants={`act as ${name}, with the role ${role}`}
        onClose={onClose}
      />
    )
  }
  return (
    <FormDialog
      title="Create an operator key"
      action="Create"
      sending={make}
      onSubmit={(form) =>
        make.mutate({ name: String(form.get('name')).trim(), role: String(form.get('role')) })
      }
      onClose={onClose}
    >
      <Field
        name="name"
        label="Name"
        hint="Of the person or program that will use it. The audit shows it."
        placeholder="payments-core"
        maxLength={100}
        required
      />
      <Select name="role" label="Role" options={ROLES} />
    </FormDialog>
  )
}
