// How many deliveries of a bulk job, or of one that is about to be started, go to which endpoint, and
// whether the endpoint accepts them now.

import type { CountedEndpoint } from '../../api/types.ts'
import { Address } from '../../ui/basics/address.tsx'
import { Badge } from '../../ui/basics/badge.tsx'
import { HealthWord } from '../../ui/basics/health-word.tsx'
import { Link } from '../../ui/basics/link.tsx'
import { toCountText } from '../../ui/lists/numbers.ts'
import { type Column, Table } from '../../ui/lists/table.tsx'

export interface Breakdown {
  /** Those with the most deliveries. */
  endpoints: readonly CountedEndpoint[]
  moreEndpoints: number
}

const COLUMNS: readonly Column<CountedEndpoint>[] = [
  {
    head: 'Endpoint',
    cell: ({ endpointId, endpointUrl }) => (
      <Link to={`/endpoints/${endpointId}`}>
        <Address url={endpointUrl} />
      </Link>
    ),
  },
  {
    head: 'Client',
    cell: ({ clientName }) => (
      <span className="cut" title={clientName}>
        {clientName}
      </span>
    ),
  },
  {
    head: 'Health',
    // Whether an active one whose circuit is closed fails is not known here: neither word would be true.
    cell: ({ status, circuit }) =>
      status === 'ACTIVE' && circuit === 'CLOSED' ? (
        <Badge>active</Badge>
      ) : (
        <HealthWord status={status} isFailing />
      ),
  },
  { head: 'Deliveries', isNumber: true, cell: ({ count }) => toCountText(count) },
]

export function ByEndpoint({ endpoints, moreEndpoints }: Breakdown) {
  return (
    <>
      <Table
        label="By endpoint"
        columns={COLUMNS}
        rows={endpoints}
        keyOf={({ endpointId }) => endpointId}
      />
      {moreEndpoints > 0 ? (
        <p className="muted">
          And {toCountText(moreEndpoints)} more {moreEndpoints === 1 ? 'endpoint' : 'endpoints'}{' '}
          with fewer.
        </p>
      ) : null}
    </>
  )
}
