// The columns that every table of deliveries on an endpoint's page begins with.

import type { Delivery } from '../../api/types.ts'
import { State } from '../../ui/basics/badge.tsx'
import { shortId } from '../../ui/basics/copy.tsx'
import { Link } from '../../ui/basics/link.tsx'
import type { Column } from '../../ui/lists/table.tsx'

export const WHICH_DELIVERY: readonly Column<Delivery>[] = [
  {
    head: 'Event',
    cell: ({ id, event, sequence }) => (
      <Link to={`/deliveries/${id}`}>
        {event} <span className="muted">#{sequence}</span>
      </Link>
    ),
  },
  {
    head: 'Payment',
    cell: ({ paymentId, externalId }) => (
      <Link to={`/payments/${paymentId}`} className="cut" title={externalId ?? paymentId}>
        {externalId ?? shortId(paymentId)}
      </Link>
    ),
  },
  { head: 'State', cell: ({ state }) => <State of={state} /> },
]
