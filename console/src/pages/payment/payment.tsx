// One payment: its state, its events, and how far the delivery of each event to each endpoint is.

import { useFollow } from '../../api/follow.ts'
import { useCursorList, useRead } from '../../api/hooks.ts'
import { useSession } from '../../api/session.ts'
import type { CursorPage, Delivery, Payment, PaymentEvent } from '../../api/types.ts'
import { State } from '../../ui/basics/badge.tsx'
import { Button } from '../../ui/basics/button.tsx'
import { Id } from '../../ui/basics/copy.tsx'
import { Link } from '../../ui/basics/link.tsx'
import { Empty, Loading, Problem } from '../../ui/basics/messages.tsx'
import { ClientLink } from '../../ui/basics/owner.tsx'
import { Facts, PageHead, Panel } from '../../ui/basics/page.tsx'
import { Amount } from '../../ui/lists/amount.tsx'
import { Time } from '../../ui/times/time.tsx'
import type { PageProps } from '../page-props.ts'
import { type LaneEvent, Lanes } from './lanes.tsx'
import { type StateEntry, StateLine } from './state-line.tsx'
import './payment.css'

const READ_EVERY_MS = 3_000
const DELIVERIES_MAX = 200

/** State, deliveries, facts. */
const SHAPE = [[136], [287], [380]]

export default function PaymentPage({ params }: PageProps) {
  const id = encodeURIComponent(params.id ?? '')
  const isOperator = useSession().kind === 'operator'
  const base = isOperator ? '/operator/v1' : '/v1'
  const payment = useRead<Payment>(`${base}/payments/${id}`, { everyMs: READ_EVERY_MS })
  const events = useCursorList<PaymentEvent>(`/operator/v1/payments/${id}/events`, {
    isEnabled: isOperator,
    everyMs: READ_EVERY_MS,
  })
  const deliveries = useRead<CursorPage<Delivery>>(
    `${base}/deliveries?paymentId=${id}&limit=${DELIVERIES_MAX}`,
    { everyMs: READ_EVERY_MS },
  )
  const deliveryIds = new Set(deliveries.data?.items.map((one) => one.id))
  useFollow(
    {
      accepted: ({ paymentId }) => paymentId === params.id,
      attempt: ({ deliveryId }) => deliveryIds.has(deliveryId),
    },
    `/operator/v1/payments/${id}`,
    `/operator/v1/deliveries?paymentId=${id}`,
  )
  const { data } = payment
  const items = deliveries.data?.items ?? []
  const shown = isOperator ? events.items.map(toLaneEvent) : eventsOf(items)
  const inSequence = shown.toSorted((a, b) => a.sequence - b.sequence)
  return (
    <>
      <PageHead
        title={data ? `Payment ${data.externalId}` : 'Payment'}
        above={<Link to="/payments">Payments</Link>}
      >
        {data ? (
          <>
            <span className="payment-amount">
              <Amount of={data.amount} />
            </span>
            <State of={data.status?.state ?? 'DRAFT'} />
          </>
        ) : null}
      </PageHead>
      {payment.error ? <Problem problem={payment.error} /> : null}
      {payment.isPending ? <Loading panels={SHAPE} /> : null}
      {data ? (
        <>
          <Panel title="State">
            <StateLine
              now={data.status?.state ?? 'DRAFT'}
              entries={entriesOf(inSequence)}
              isWhole={isOperator && !events.hasMore}
            />
            {data.status?.reason ? (
              <p className="break">
                <span className="muted">Reason: </span>
                {data.status.reason}
              </p>
            ) : null}
          </Panel>
          <Panel
            title="Delivery status"
            isFlush
            aside={<Link to={`/deliveries?paymentId=${data.id}`}>All its deliveries</Link>}
          >
            {deliveries.error ? <Problem problem={deliveries.error} /> : null}
            <Lanes events={inSequence} deliveries={items} />
            {deliveries.data && items.length === 0 ? (
              <Empty title="No endpoint receives this payment">
                An event is sent to the endpoints that exist when it happens.{' '}
                <Link to="/endpoints">See the endpoints</Link>.
              </Empty>
            ) : null}
            {events.hasMore ? (
              <div className="table-more">
                <Button onClick={events.loadMore} disabled={events.isLoadingMore}>
                  Show older events
                </Button>
              </div>
            ) : null}
            {deliveries.data?.next ? (
              <p className="table-more muted">
                Only the newest {DELIVERIES_MAX} deliveries are shown; the list has all of them.
              </p>
            ) : null}
          </Panel>
          <Panel title="Details">
            <PaymentFacts payment={data} />
          </Panel>
        </>
      ) : null}
    </>
  )
}

function PaymentFacts({ payment }: { payment: Payment }) {
  const { amount, document } = payment
  const isSet = (fact: readonly [string, unknown]) => fact[1] !== null
  const facts = [
    ['Id', <Id key="id" value={payment.id} />],
    ['External id', payment.externalId],
    ['Amount', <Amount key="amount" of={amount} />],
    ['Reference', payment.reference],
    ['Purpose', payment.purposeOfPayment],
    ['Quote', <Id key="quote" value={payment.quoteId} />],
    ['Beneficiary', <Id key="beneficiary" value={payment.beneficiaryId} />],
    ['Document reference', payment.documentReference ?? null],
    [
      'Document',
      document ? (
        <span key="document">
          {document.name} <span className="muted">({document.mediaType})</span>
        </span>
      ) : null,
    ],
    ['Created', <Time key="created" at={payment.createdAt} />],
    ['Completed', payment.completedAt ? <Time key="done" at={payment.completedAt} /> : null],
    [
      'Client',
      payment.clientId ? (
        <ClientLink key="client" id={payment.clientId} name={payment.clientName} />
      ) : null,
    ],
    [
      'Account',
      payment.accountId ? (
        <span key="account">
          {payment.accountName} <Id value={payment.accountId} isShort />
        </span>
      ) : null,
    ],
    ['Version of the source', payment.version ?? null],
  ] as const
  return <Facts of={facts.filter(isSet)} />
}

function toLaneEvent({ id, event, sequence, createdAt, payment }: PaymentEvent): LaneEvent {
  return { id, event, sequence, createdAt, state: payment.status?.state ?? 'DRAFT' }
}

/** A client sees the events through its deliveries. */
function eventsOf(deliveries: readonly Delivery[]): LaneEvent[] {
  const events = new Map(
    deliveries.map(({ eventId, event, sequence, createdAt }) => [
      eventId,
      { id: eventId, event, sequence, createdAt },
    ]),
  )
  return [...events.values()]
}

const STATE_OF_KIND: Readonly<Record<string, StateEntry['state']>> = {
  'payment.pending_approval': 'PENDING_APPROVAL',
  'payment.due': 'DUE',
  'payment.paid': 'PAID',
  'payment.cancelled': 'CANCELLED',
}

/** With which events the payment entered another state. */
export function entriesOf(events: readonly LaneEvent[]): StateEntry[] {
  const entries: StateEntry[] = []
  for (const { event, state, createdAt, sequence } of events) {
    const entered = (state as StateEntry['state'] | undefined) ?? STATE_OF_KIND[event]
    if (entered === undefined || entries.at(-1)?.state === entered) continue
    entries.push({ state: entered, at: createdAt, sequence })
  }
  return entries
}
