// Endpoints that callbacks do not reach, the worst first: how many wait, then for how long.

import type { TroubledEndpoint } from '../../api/types.ts'
import { Address } from '../../ui/basics/address.tsx'
import { HealthWord } from '../../ui/basics/health-word.tsx'
import { Link } from '../../ui/basics/link.tsx'
import { toOutcomeText } from '../../ui/basics/outcome.ts'
import { ClientLink } from '../../ui/basics/owner.tsx'
import { Panel } from '../../ui/basics/page.tsx'
import { toCountText } from '../../ui/lists/numbers.ts'
import { type Column, Table } from '../../ui/lists/table.tsx'
import { NextTime } from '../../ui/times/next-attempt.tsx'
import { Time } from '../../ui/times/time.tsx'

const COLUMNS: readonly Column<TroubledEndpoint>[] = [
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
    cell: ({ clientId, clientName }) => <ClientLink id={clientId} name={clientName} />,
  },
  {
    head: 'Health',
    cell: ({ status, failingSince }) => (
      <HealthWord status={status} isFailing={failingSince !== null} />
    ),
  },
  {
    head: 'Next probe',
    // Nothing is sent to one that is paused or disabled, no probe either.
    cell: ({ status, nextProbeAt }) =>
      nextProbeAt === null || status !== 'ACTIVE' ? '–' : <NextTime at={nextProbeAt} />,
  },
  { head: 'Failing since', cell: ({ failingSince }) => <Time at={failingSince} as="short" /> },
  {
    head: 'Last error',
    cell: ({ lastError }) => (
      <span className="nowrap">{lastError === null ? '–' : toOutcomeText(lastError)}</span>
    ),
  },
  {
    head: 'Waiting',
    isNumber: true,
    cell: ({ endpointId, pending }) => (
      <Link to={`/deliveries?state=PENDING&endpointId=${endpointId}`}>{toCountText(pending)}</Link>
    ),
  },
]

export function Troubled({ endpoints }: { endpoints: readonly TroubledEndpoint[] }) {
  const sorted = endpoints.toSorted(
    (one, other) => other.pending - one.pending || sinceMs(one) - sinceMs(other),
  )
  return (
    <Panel title="Failing endpoints" isFlush>
      <Table
        label="Failing endpoints"
        columns={COLUMNS}
        rows={sorted}
        keyOf={({ endpointId }) => endpointId}
      />
    </Panel>
  )
}

function sinceMs({ failingSince }: TroubledEndpoint): number {
  return failingSince === null ? Number.POSITIVE_INFINITY : Date.parse(failingSince)
}
