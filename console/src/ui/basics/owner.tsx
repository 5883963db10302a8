// Whose something is: a client by its name.

import { shortId } from './copy.tsx'
import { Link } from './link.tsx'

/** The service names the client of whatever it lists. */
export function ClientLink({ id, name }: { id: string | undefined; name: string | undefined }) {
  if (id === undefined) return <span className="muted">–</span>
  return (
    <Link to={`/clients/${id}`} className="cut" title={name ?? id}>
      {name ?? <span className="id">{shortId(id)}</span>}
    </Link>
  )
}
