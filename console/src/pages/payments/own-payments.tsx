// A client's own payments by the external ids that it gave them, each with the worst state of its deliveries.

import type { PaymentItem } from '../../api/types.ts'
import { useFilters } from '../../router.ts'
import { State } from '../../ui/basics/badge.tsx'
import { Id } from '../../ui/basics/copy.tsx'
import { Link } from '../../ui/basics/link.tsx'
import { Empty } from '../../ui/basics/messages.tsx'
import { shortenMiddle } from '../../ui/basics/shorten.ts'
import { Amount } from '../../ui/lists/amount.tsx'
import { ChosenFilter, FilteredList, TypedFilter } from '../../ui/lists/filtered-list.tsx'
import type { Column } from '../../ui/lists/table.tsx'
import { Time } from '../../ui/times/time.tsx'
import { EXTERNAL_ID_CHARACTERS_MAX, PAYMENT_STATES } from './states.ts'

const COLUMNS: readonly Column<PaymentItem>[] = [
  {
    head: 'Payment',
    cell: ({ id, externalId }) => (
      <Link to={`/payments/${id}`} className="nowrap" title={externalId}>
        {shortenMiddle(externalId, EXTERNAL_ID_CHARACTERS_MAX)}
      </Link>
    ),
  },
  {
    head: 'Amount',
    isNumber: true,
    cell: ({ amount }) => <Amount of={amount} />,
  },
  { head: 'State', cell: ({ status }) => <State of={status?.state ?? 'DRAFT'} /> },
  { head: 'Deliveries', cell: (payment) => <Deliveries of={payment} /> },
  { head: 'Events', isNumber: true, cell: ({ sequence }) => sequence },
  { head: 'Changed', cell: ({ changedAt }) => <Time at={changedAt} as="short" /> },
  { head: 'Created', cell: ({ createdAt }) => <Time at={createdAt} as="short" /> },
  { head: 'Id', cell: ({ id }) => <Id value={id} isShort /> },
]

const FILTERS = ['externalId', 'state', 'from', 'to'] as const

export function OwnPayments() {
  const { setFilters } = useFilters()
  return (
    <FilteredList
      label="Payments"
      rows="payments"
      path="/v1/payments"
      page="/payments"
      everyMs={10_000}
      filters={FILTERS}
      controls={
        <>
          <TypedFilter name="externalId" type="search" label="External id" />
          <ChosenFilter name="state" label="State" options={[['', 'Any'], ...PAYMENT_STATES]} />
        </>
      }
      fromLabel="Created from"
      onSubmit={(form) =>
        setFilters({ externalId: String(form.get('externalId')).trim() }, { isPushing: true })
      }
      columns={COLUMNS}
      empty={(isFiltered) => <NoPayments isFiltered={isFiltered} />}
    />
  )
}

/** The worst state, and how many are in it unless all are. */
function Deliveries({ of: { id, deliveries, deliveryState } }: { of: PaymentItem }) {
  if (deliveryState === null) return <span className="muted">none</span>
  const all = Object.values(deliveries).reduce((sum, count) => sum + count, 0)
  const worst = deliveries[deliveryState.toLowerCase() as keyof typeof deliveries]
  return (
    <span className="nowrap">
      <State of={deliveryState} />{' '}
      <Link to={`/deliveries?paymentId=${id}`}>{worst === all ? all : `${worst} of ${all}`}</Link>
    </span>
  )
}

function NoPayments({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty title="No payment matches this filter">
        An external id has to be written whole, in capitals and small letters as it was given.
      </Empty>
    )
  }
  return (
    <Empty
      title="No payments yet"
      curl={`curl -s "${window.location.origin}/v1/payments?limit=50" -H "Authorization: Bearer $TOKEN"`}
    >
      A payment is shown here as soon as the service has accepted it, with or without an endpoint.
    </Empty>
  )
}
