import { useRead } from '../../api/hooks.ts'
import { useSession } from '../../api/session.ts'
import type { CursorPage, Delivery } from '../../api/types.ts'
import { Link } from '../../ui/basics/link.tsx'
import { Empty, Loading, Problem } from '../../ui/basics/messages.tsx'
import { toOutcomeText } from '../../ui/basics/outcome.ts'
import { Panel } from '../../ui/basics/page.tsx'
import { type Column, Table } from '../../ui/lists/table.tsx'
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

/** The last few, which show what the health is derived from. */
export function LatestDeliveries({ endpointId }: { endpointId: string }) {
  const base = useSession().kind === 'operator' ? '/operator/v1' : '/v1'
  const { data, error, isPending } = useRead<CursorPage<Delivery>>(
    `${base}/deliveries?endpointId=${endpointId}&limit=10`,
    { everyMs: 3_000 },
  )
  return (
    <Panel
      title="Latest deliveries"
      isFlush
      aside={<Link to={`/deliveries?endpointId=${endpointId}`}>All deliveries</Link>}
    >
      {error ? <Problem problem={error} /> : null}
      {isPending ? <Loading rows={11} /> : null}
      {data && data.items.length > 0 ? (
        <Table
          label="Latest deliveries"
          columns={COLUMNS}
          rows={data.items}
          keyOf={({ id }) => id}
        />
      ) : null}
      {data && data.items.length === 0 ? (
        <Empty title="No deliveries yet">
          The next change of a payment that this endpoint receives makes the first delivery.
        </Empty>
      ) : null}
    </Panel>
  )
}
