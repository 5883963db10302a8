// Payments, newest first. The operator sees those of all clients; a client its own.

import { useSession } from '../../api/session.ts'
import type { Payment } from '../../api/types.ts'
import { FindFilter } from '../../filters/find-filter.tsx'
import { useFilters } from '../../router.ts'
import { State } from '../../ui/basics/badge.tsx'
import { Id } from '../../ui/basics/copy.tsx'
import { Link } from '../../ui/basics/link.tsx'
import { Empty } from '../../ui/basics/messages.tsx'
import { ClientLink } from '../../ui/basics/owner.tsx'
import { PageHead } from '../../ui/basics/page.tsx'
import { shortenMiddle } from '../../ui/basics/shorten.ts'
import { Amount } from '../../ui/lists/amount.tsx'
import { ChosenFilter, FilteredList, TypedFilter } from '../../ui/lists/filtered-list.tsx'
import type { Column } from '../../ui/lists/table.tsx'
import { Time } from '../../ui/times/time.tsx'
import { OwnPayments } from './own-payments.tsx'
import { EXTERNAL_ID_CHARACTERS_MAX, PAYMENT_STATES } from './states.ts'

const COLUMNS: readonly Column<Payment>[] = [
  {
    head: 'Payment',
    cell: ({ id, externalId }) => (
      <Link to={`/payments/${id}`} className="nowrap" title={externalId}>
        {shortenMiddle(externalId, EXTERNAL_ID_CHARACTERS_MAX)}
      </Link>
    ),
  },
  { head: 'State', cell: ({ status }) => <State of={status?.state ?? 'DRAFT'} /> },
  {
    head: 'Amount',
    isNumber: true,
    cell: ({ amount }) => <Amount of={amount} />,
  },
  {
    head: 'Reference',
    cell: ({ reference }) => (
      <span className="cut" title={reference}>
        {reference}
      </span>
    ),
  },
  {
    head: 'Client',
    cell: ({ clientId, clientName }) => <ClientLink id={clientId} name={clientName} />,
  },
  { head: 'Events', isNumber: true, cell: ({ sequence }) => sequence ?? '–' },
  { head: 'Created', cell: ({ createdAt }) => <Time at={createdAt} as="short" /> },
  { head: 'Id', cell: ({ id }) => <Id value={id} isShort /> },
]

const FILTERS = ['q', 'state', 'clientId', 'accountId', 'from', 'to'] as const

export default function Payments() {
  const { kind } = useSession()
  return (
    <>
      <PageHead title="Payments" />
      {kind === 'operator' ? <AllPayments /> : <OwnPayments />}
    </>
  )
}

function AllPayments() {
  const { query, setFilters } = useFilters()
  return (
    <FilteredList
      label="Payments"
      rows="payments"
      path="/operator/v1/payments"
      page="/payments"
      everyMs={10_000}
      filters={FILTERS}
      controls={
        <>
          <TypedFilter name="q" type="search" label="Payment id or external id" />
          <ChosenFilter name="state" label="State" options={[['', 'Any'], ...PAYMENT_STATES]} />
          <FindFilter
            of="client"
            value={query.get('clientId') ?? ''}
            onChange={(clientId) => setFilters({ clientId })}
          />
          {query.has('accountId') ? (
            <FindFilter
              of="account"
              value={query.get('accountId') ?? ''}
              onChange={(accountId) => setFilters({ accountId })}
            />
          ) : null}
        </>
      }
      fromLabel="Created from"
      onSubmit={(form) => setFilters({ q: String(form.get('q')).trim() }, { isPushing: true })}
      columns={COLUMNS}
      empty={(isFiltered) => <NoPayments isFiltered={isFiltered} />}
    />
  )
}

function NoPayments({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty title="No payment matches this filter">
        Search by a whole payment id or external id.
      </Empty>
    )
  }
  return (
    <Empty
      title="No payments yet"
      curl={`curl -s -X PUT ${window.location.origin}/operator/v1/payments/$(uuidgen) \\
  -H "Authorization: Bearer $OPERATOR_KEY" -H "AccountId: $ACCOUNT" -H 'Content-Type: application/json' \\
  -d '{"externalId": "INV-1", "quoteId": "0f7f2a61-9d0c-4f5e-8a3f-6d1b8a2c7e90",
       "amount": {"amount": 1250.50, "currency": "EUR"}, "reference": "Invoice 1",
       "purposeOfPayment": "COMPUTER_SERVICES", "beneficiaryId": "c1f0a3de-8a1b-4b7c-9d2e-5f6a7b8c9d0e"}'`}
    >
      A payment is listed as soon as its first write is accepted.
    </Empty>
  )
}
