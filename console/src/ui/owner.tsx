// Whose something is: a client by its name, and the filter by it.

import { useClients } from '../api/clients.ts'
import { shortId } from './copy.tsx'
import { Field, Select } from './field.tsx'
import { Link } from './link.tsx'

/** The service names the client of whatever it lists. */
export function ClientLink({ id, name }: { id: string | undefined; name: string | undefined }) {
  if (id === undefined) return <span className="muted">–</span>
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
