// Payments, newest first. The operator sees everybody's; a client those that its endpoints heard of.

import { useCursorList } from '../../api/hooks.ts'
import { PAYMENT_STATES, type Payment } from '../../api/records.ts'
import { useSession } from '../../api/session.ts'
import { toQuery, useFilters } from '../../router.ts'
import { State } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Id } from '../../ui/copy.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { toInputValue, toInstant } from '../../ui/instant.ts'
import { Link } from '../../ui/link.tsx'
import { Empty, Loading, Problem } from '../../ui/messages.tsx'
import { ClientFilter, ClientLink } from '../../ui/owner.tsx'
import { PageHead, Panel } from '../../ui/page.tsx'
import { type Column, More, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { OwnPayments } from './own-payments.tsx'

const COLUMNS: readonly Column<Payment>[] = [
  {
    head: 'Payment',
    cell: ({ id, externalId }) => (
      <Link to={`/payments/${id}`} className="break">
        {externalId}
      </Link>
    ),
  },
  { head: 'State', cell: ({ status }) => <State of={status?.state ?? 'DRAFT'} /> },
  {
    head: 'Amount',
    isNumber: true,
    cell: ({ amount }) => (
      <span className="nowrap">
        {amount.amount} {amount.currency}
      </span>
    ),
  },
  { head: 'Reference', cell: ({ reference }) => <span className="break">{reference}</span> },
  { head: 'Client', cell: ({ clientId }) => <ClientLink id={clientId} /> },
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
  const { query } = useFilters()
  const given = Object.fromEntries(FILTERS.map((name) => [name, query.get(name)]))
  const list = useCursorList<Payment>(`/operator/v1/payments${toQuery(given)}`, {
    everyMs: 10_000,
  })
  const isFiltered = FILTERS.some((name) => query.has(name))
  return (
    <>
      <PaymentFilters />
      <Panel title="The newest first" isFlush>
        {list.error ? <Problem problem={list.error} /> : null}
        {list.isLoading ? <Loading /> : null}
        {list.items.length > 0 ? (
          <Table label="Payments" columns={COLUMNS} rows={list.items} keyOf={({ id }) => id} />
        ) : null}
        {!list.isLoading && !list.error && list.items.length === 0 && !list.hasMore ? (
          <NoPayments isFiltered={isFiltered} />
        ) : null}
        {list.items.length > 0 || list.hasMore ? (
          <More
            hasMore={list.hasMore}
            isLoading={list.isLoadingMore}
            onMore={list.loadMore}
            shown={list.items.length}
          />
        ) : null}
      </Panel>
    </>
  )
}

function PaymentFilters() {
  const { query, setFilters } = useFilters()
  const value = (name: string) => query.get(name) ?? ''
  const isFiltered = FILTERS.some((name) => query.has(name))
  return (
    <form
      className="filters is-roomy"
      aria-label="Payments"
      onSubmit={(event) => {
        event.preventDefault()
        const form = new FormData(event.currentTarget)
        setFilters({ q: String(form.get('q')).trim() }, { isPushing: true })
      }}
    >
      <Field
        key={value('q')}
        name="q"
        type="search"
        label="Payment id or external id"
        defaultValue={value('q')}
        onBlur={(event) => setFilters({ q: event.target.value.trim() })}
      />
      <Select
        label="State"
        value={value('state')}
        options={[['', 'Any'], ...PAYMENT_STATES]}
        onChange={(event) => setFilters({ state: event.target.value })}
      />
      <ClientFilter value={value('clientId')} onChange={(clientId) => setFilters({ clientId })} />
      <Field
        label="First written from"
        type="datetime-local"
        value={toInputValue(value('from'))}
        onChange={(event) => setFilters({ from: toInstant(event.target.value) })}
      />
      <Field
        label="and before"
        type="datetime-local"
        value={toInputValue(value('to'))}
        onChange={(event) => setFilters({ to: toInstant(event.target.value) })}
      />
      {isFiltered ? (
        <div>
          <Button
            onClick={() => setFilters(Object.fromEntries(FILTERS.map((name) => [name, null])))}
          >
            Clear the filters
          </Button>
        </div>
      ) : null}
    </form>
  )
}

function NoPayments({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty title="No payment is like this">
        A search wants the whole id or the whole external id.
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
      A payment is there as soon as its first write is accepted.
    </Empty>
  )
}
