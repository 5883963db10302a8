// Every delivery that matches a filter, the newest first, as it moves. Rows are links; payloads are
// never read here.

import { useState } from 'react'
import { useCan, useSession } from '../../api/session.ts'
import { useLocation } from '../../router.ts'
import { Link } from '../../ui/basics/link.tsx'
import { Empty, Loading, Problem } from '../../ui/basics/messages.tsx'
import { PageHead, Panel } from '../../ui/basics/page.tsx'
import { Choice } from '../../ui/forms/field.tsx'
import { ChooseColumns } from '../../ui/lists/choose-columns.tsx'
import { SavedFilters } from '../../ui/lists/saved-filters.tsx'
import { useNow } from '../../ui/times/time.tsx'
import { BulkActions } from './bulk.tsx'
import { columnsOf, DeliveryTable } from './delivery-table.tsx'
import { isEmpty, isUuid, readFilter, toApiFilter, toQuery } from './filter.ts'
import { Filters } from './filters.tsx'
import { JobStrip } from './job-strip.tsx'
import { type TailState, useTail } from './use-tail.ts'
import './deliveries.css'

const LIMIT = 50

export default function Deliveries() {
  const { kind } = useSession()
  const canAct = useCan('admin') && kind === 'operator'
  const { query } = useLocation()
  const filter = readFilter(query, kind)
  const after = query.get('after') ?? ''
  const [isLive, setLive] = useState(true)
  // The last hour moves with the clock, but not every second: its beginning is part of the path, and so
  // of the key under which the answer is kept.
  const minuteMs = Math.floor(useNow() / 60_000) * 60_000
  const applied = toApiFilter(filter, minuteMs)
  const path = kind === 'operator' ? '/operator/v1/deliveries' : '/v1/deliveries'
  const search = new URLSearchParams({ limit: String(LIMIT), ...applied })
  if (after !== '') search.set('after', after)
  const { page, state } = useTail(`${path}?${search}`, isLive && after === '')
  const items = page.data?.items ?? []
  const isDone = items.length === 0 && page.data?.next === null && after === ''

  return (
    <>
      <PageHead title="Deliveries">
        {after === '' ? <Tail state={state} isLive={isLive} onChange={setLive} /> : null}
      </PageHead>
      {filter.job === '' ? null : <JobStrip key={filter.job} id={filter.job} />}
      <Filters filter={filter} />
      <SavedFilters path="/deliveries" query={toQuery(filter)} />
      <Panel
        title={titleOf(!isEmpty(filter), after !== '')}
        isFlush
        aside={
          <>
            {canAct && !isEmpty(filter) ? <BulkActions filter={filter} /> : null}
            <ChooseColumns path="/deliveries" heads={columnsOf(kind)} />
          </>
        }
      >
        {page.error ? <Problem problem={page.error} /> : null}
        {page.data === undefined && !page.error ? <Loading rows={20} /> : null}
        {page.data !== undefined && items.length === 0 ? (
          <Nothing
            isFiltered={!isEmpty(filter)}
            next={page.data.next}
            paymentId={filter.paymentId}
          />
        ) : null}
        {items.length > 0 ? <DeliveryTable items={items} filter={filter} /> : null}
        {page.data === undefined || isDone ? null : (
          <nav className="table-more" aria-label="Pages of the list">
            {after === '' ? null : <Link to={`/deliveries${toQuery(filter)}`}>Newest</Link>}
            {page.data.next === null ? null : (
              <Link to={`/deliveries${toQuery(filter, { after: page.data.next })}`}>
                {items.length < LIMIT ? 'Search further back' : 'Older'}
              </Link>
            )}
            <span className="muted">
              {items.length} shown{page.data.next === null ? ', end of list' : ''}
            </span>
          </nav>
        )}
      </Panel>
    </>
  )
}

function titleOf(isFiltered: boolean, isOlder: boolean): string {
  if (isOlder) return 'Older deliveries'
  return isFiltered ? 'Matching deliveries' : 'All deliveries'
}

const SAID: Readonly<Record<TailState, string>> = {
  off: 'Paused: the list does not change.',
  connecting: 'Connecting to the live stream…',
  live: 'Live: new deliveries appear here.',
}

function Tail({
  state,
  isLive,
  onChange,
}: {
  state: TailState
  isLive: boolean
  onChange(isLive: boolean): void
}) {
  return (
    <>
      <span className={`tail tail-${state}`} role="status">
        {SAID[state]}
      </span>
      <Choice
        label="Live tail"
        value={isLive ? 'live' : 'paused'}
        options={[
          ['live', 'Live'],
          ['paused', 'Pause'],
        ]}
        onChange={(value) => onChange(value === 'live')}
      />
    </>
  )
}

function Nothing({
  isFiltered,
  next,
  paymentId,
}: {
  isFiltered: boolean
  next: string | null
  paymentId: string
}) {
  if (next !== null) {
    return (
      <Empty title="Nothing yet">
        None of the newest deliveries matches. There are older ones: search further back.
      </Empty>
    )
  }
  if (isFiltered) {
    return (
      <Empty title="No delivery matches this filter">
        <Link to="/deliveries">Show all deliveries</Link>
        {isUuid(paymentId) ? (
          <>
            , or <Link to={`/deliveries/${paymentId}`}>open this id as a delivery</Link>
          </>
        ) : null}
        .
      </Empty>
    )
  }
  return <FirstSteps />
}

function FirstSteps() {
  const { kind } = useSession()
  if (kind === 'client') {
    return (
      <Empty title="No deliveries yet">
        Register an endpoint. From then on, every change of a payment is one delivery here.{' '}
        <Link to="/">Get your first callback</Link>.
      </Empty>
    )
  }
  return (
    <Empty
      title="No deliveries yet"
      curl={`curl -i -X PUT ${window.location.origin}/operator/v1/payments/$(uuidgen) \\
  -H "Authorization: Bearer $OPERATOR_KEY" -H 'AccountId: …' -H 'Content-Type: application/json' \\
  -d '{"externalId":"ORDER-1","quoteId":"'$(uuidgen)'","beneficiaryId":"'$(uuidgen)'",
       "amount":{"amount":100.00,"currency":"EUR"},"reference":"Invoice 1",
       "purposeOfPayment":"COMPUTER_SERVICES","status":{"state":"DUE"}}'`}
    >
      Create a payment. Each change of it is one delivery to every endpoint of its account and its
      client.
    </Empty>
  )
}
