// The deliveries of one endpoint: what its health is derived from.

import { DELIVERY_STATES } from '../../../../sdk/src/internal/words.ts'
import { useSession } from '../../api/session.ts'
import type { Delivery } from '../../api/types.ts'
import { Link } from '../../ui/basics/link.tsx'
import { Empty } from '../../ui/basics/messages.tsx'
import { toOutcomeText } from '../../ui/basics/outcome.ts'
import { ChosenFilter, FilteredList } from '../../ui/lists/filtered-list.tsx'
import type { Column } from '../../ui/lists/table.tsx'
import { NextAttempt } from '../../ui/times/next-attempt.tsx'
import { Time } from '../../ui/times/time.tsx'
import { WHICH_DELIVERY } from './delivery-columns.tsx'

const COLUMNS: readonly Column<Delivery>[] = [
  ...WHICH_DELIVERY,
  { head: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
  {
    head: 'Last answer',
    cell: ({ lastOutcome }) => (lastOutcome === null ? '–' : toOutcomeText(lastOutcome)),
  },
  { head: 'Next attempt', cell: (delivery) => <NextAttempt of={delivery} /> },
  { head: 'Created', cell: ({ createdAt }) => <Time at={createdAt} as="short" /> },
]

export function EndpointDeliveries({ endpointId }: { endpointId: string }) {
  const base = useSession().kind === 'operator' ? '/operator/v1' : '/v1'
  return (
    <FilteredList<Delivery>
      label="Deliveries"
      rows="deliveries"
      path={`${base}/deliveries`}
      everyMs={3_000}
      filters={['state', 'from', 'to']}
      always={{ endpointId }}
      controls={
        <ChosenFilter name="state" label="State" options={[['', 'All'], ...DELIVERY_STATES]} />
      }
      fromLabel="Created since"
      aside={<Link to={`/deliveries?endpointId=${endpointId}`}>Open in Deliveries</Link>}
      columns={COLUMNS}
      empty={(isFiltered) =>
        isFiltered ? (
          <Empty title="No delivery matches this filter" />
        ) : (
          <Empty title="No deliveries yet">
            The next change of a payment that this endpoint receives makes the first delivery.
          </Empty>
        )
      }
    />
  )
}
