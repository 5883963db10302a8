// Whose something is: a client by its name where that is known, and the filter by it.

import { useClients } from '../api/clients.ts'
import { shortId } from './copy.tsx'
import { Field, Select } from './field.tsx'
import { Link } from './link.tsx'

export function ClientLink({ id }: { id: string | undefined }) {
  const { clients } = useClients()
  if (id === undefined) return <span className="muted">–</span>
  const name = clients.find(({ clientId }) => clientId === id)?.name
  return (
    <Link to={`/clients/${id}`} title={id}>
      {name ?? <span className="id">{shortId(id)}</span>}
    </Link>
  )
}

/** Chosen by name while all fit on a page; otherwise an id is pasted. */
export function ClientFilter({
  value,
  onChange,
}: {
  value: string
  onChange(clientId: string): void
}) {
  const { clients, isAll } = useClients()
  if (!isAll || (value !== '' && clients.every(({ clientId }) => clientId !== value))) {
    return (
      <Field
        key={value}
        label="Client"
        placeholder="id of a client"
        defaultValue={value}
        onBlur={(event) => onChange(event.target.value.trim())}
      />
    )
  }
  return (
    <Select
      label="Client"
      value={value}
      options={[
        ['', 'All clients'],
        ...clients.map(({ clientId, name }) => [clientId, name] as const),
      ]}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}
