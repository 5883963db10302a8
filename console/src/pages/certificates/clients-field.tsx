// Which clients may use a certificate, as fields of a form: no one, every client, or some that are found by their names.

import type { ServiceCertificate } from '../../api/types.ts'
import { FindFilter } from '../../filters/find-filter.tsx'
import { useNameOf } from '../../filters/sources.ts'
import { Button } from '../../ui/basics/button.tsx'
import { Select } from '../../ui/forms/field.tsx'

export type Clients = ServiceCertificate['clients']

/** Longer lists are the command line's: each name is a question. */
const NAMED_MAX = 50

export function ClientsField({
  value,
  onChange,
}: {
  value: Clients
  onChange(clients: Clients): void
}) {
  const isEveryone = value === 'everyone'
  const chosen = isEveryone ? [] : value
  const add = (id: string) => {
    if (id !== '' && !chosen.includes(id)) onChange([...chosen, id])
  }
  return (
    <>
      <Select
        label="Who may use it"
        value={isEveryone ? 'everyone' : 'some'}
        onChange={(event) => onChange(event.target.value === 'everyone' ? 'everyone' : [])}
        options={[
          ['some', 'Only these clients'],
          ['everyone', 'Every client'],
        ]}
        hint="Only they see it, and only their receivers and token endpoints are shown it."
      />
      {isEveryone ? null : (
        <>
          {chosen.length === 0 ? <p className="muted">No client yet.</p> : null}
          <ul aria-label="Clients that may use it">
            {chosen.slice(0, NAMED_MAX).map((id) => (
              <li key={id} className="row">
                <ClientName id={id} />
                <Button isSmall onClick={() => onChange(chosen.filter((one) => one !== id))}>
                  Remove
                </Button>
              </li>
            ))}
          </ul>
          {chosen.length > NAMED_MAX ? <p>And {chosen.length - NAMED_MAX} more.</p> : null}
          <FindFilter
            of="client"
            label="Add a client"
            placeholder="Its name"
            value=""
            onChange={add}
          />
        </>
      )}
    </>
  )
}

function ClientName({ id }: { id: string }) {
  return <span className="break">{useNameOf('client', id)}</span>
}

/** In a list. */
export function clientsText(clients: Clients | undefined): string {
  if (clients === 'everyone') return 'every client'
  const count = clients?.length ?? 0
  return count === 0 ? 'no client' : count === 1 ? '1 client' : `${count} clients`
}
