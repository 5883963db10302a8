// A client's first page: whether its callbacks arrived, and if not, what became of them.

import { useRead } from '../../api/hooks.ts'
import { useSession } from '../../api/session.ts'
import type { CursorPage, Delivery, DeliveryState, Endpoint, Page } from '../../api/types.ts'
import { Address } from '../../ui/basics/address.tsx'
import { State } from '../../ui/basics/badge.tsx'
import { shortId } from '../../ui/basics/copy.tsx'
import { Link } from '../../ui/basics/link.tsx'
import { Empty, Loading, Notice, Problem } from '../../ui/basics/messages.tsx'
import { PageHead, Panel } from '../../ui/basics/page.tsx'
import { type Column, Table } from '../../ui/lists/table.tsx'
import { NextAttempt } from '../../ui/times/next-attempt.tsx'
import { Time, useNow } from '../../ui/times/time.tsx'
import { DOORS } from '../endpoint/doors.ts'
import { OwnList } from '../endpoints/own-endpoints.tsx'
import { ApiAccess } from '../first-look/api-access.tsx'
import { FirstLook } from '../first-look/first-look.tsx'
import { Tile } from './tiles.tsx'

const LOOKED_AT = 50
/** Up to this age a pending delivery counts as under way. */
const UNDER_WAY_MS = 15_000
const SHOWN = 10

const COLUMNS: readonly Column<Delivery>[] = [
  {
    head: 'Delivery',
    cell: ({ id, event }) => (
      <Link to={`/deliveries/${id}`} title={id}>
        {event}
      </Link>
    ),
  },
  {
    head: 'Payment',
    cell: ({ paymentId, externalId }) => (
      <Link to={`/payments/${paymentId}`} className="break" title={paymentId}>
        {externalId ?? shortId(paymentId)}
      </Link>
    ),
  },
  { head: 'State', cell: ({ state }) => <State of={state} /> },
  { head: 'To', cell: ({ endpointUrl }) => <Address url={endpointUrl} /> },
  { head: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
  { head: 'Last', cell: ({ lastOutcome }) => <span className="nowrap">{lastOutcome ?? '–'}</span> },
  { head: 'Created', cell: ({ createdAt }) => <Time at={createdAt} as="short" /> },
  { head: 'Next', cell: (delivery) => <NextAttempt of={delivery} /> },
]

export function OwnOverview() {
  const { clientName } = useSession()
  const { data, error } = useRead<CursorPage<Delivery>>(`/v1/deliveries?limit=${LOOKED_AT}`, {
    everyMs: 3_000,
  })
  const own = useOwnFirst()
  const isNew = data !== undefined && data.items.length === 0
  return (
    <>
      <PageHead title="Overview">
        <span className="muted">{clientName}</span>
      </PageHead>
      {error ? <Problem problem={error} /> : null}
      {data && data.items.length > 0 ? <Summary deliveries={data.items} /> : null}
      {isNew && own.isRead ? <FirstLook endpoint={own.first} /> : null}
      {own.first ? (
        <>
          <OwnList kind="webhook" />
          <OwnList kind="subscription" />
        </>
      ) : null}
      <Panel title="Latest deliveries" isFlush aside={<Link to="/deliveries">All deliveries</Link>}>
        {data ? <Latest deliveries={data.items.slice(0, SHOWN)} /> : error ? null : <Loading />}
      </Panel>
      <ApiAccess />
    </>
  )
}

/** The first endpoint of the client, whichever kind it is. */
function useOwnFirst(): { isRead: boolean; first: Endpoint | undefined } {
  const webhooks = useRead<Page<Endpoint>>(`${DOORS.webhook}?size=100`, { everyMs: 10_000 })
  const subscriptions = useRead<Page<Endpoint>>(`${DOORS.subscription}?size=100`, {
    everyMs: 10_000,
  })
  const webhook = webhooks.data?.content[0]
  const subscription = subscriptions.data?.content[0]
  return {
    isRead: webhooks.data !== undefined && subscriptions.data !== undefined,
    first: webhook
      ? { ...webhook, kind: 'webhook' }
      : subscription && { ...subscription, kind: 'subscription' },
  }
}

function Summary({ deliveries }: { deliveries: readonly Delivery[] }) {
  const count = (state: DeliveryState) => deliveries.filter((one) => one.state === state).length
  const nowMs = useNow()
  const failing = deliveries.filter(
    ({ state, attempts, createdAt }) =>
      state === 'PENDING' && (attempts > 0 || nowMs - Date.parse(createdAt) > UNDER_WAY_MS),
  )
  const latest = deliveries.length === LOOKED_AT ? `latest ${LOOKED_AT}` : 'deliveries'
  return (
    <>
      {failing.length > 0 ? (
        <Notice
          tone="warn"
          title={`${failing.length} of your ${latest} ${failing.length === 1 ? 'was' : 'were'} not accepted yet`}
        >
          They are tried again for 7 days; only HTTP 200 counts.{' '}
          <Link to="/deliveries?state=PENDING">See why</Link>
        </Notice>
      ) : (
        <Notice tone="good" title="Your callbacks arrive">
          None of your {latest} is waiting.
        </Notice>
      )}
      <ul className="tiles" aria-label={`Of your ${latest}`}>
        <Tile name="Delivered" value={String(count('DELIVERED'))}>
          <Link to="/deliveries?state=DELIVERED">answered 200</Link>
        </Tile>
        <Tile name="Pending" value={String(count('PENDING'))}>
          <Link to="/deliveries?state=PENDING">on their way</Link>
        </Tile>
        <Tile name="Superseded" value={String(count('SUPERSEDED'))}>
          <Link to="/deliveries?state=SUPERSEDED">a newer update came first</Link>
        </Tile>
        <Tile name="Exhausted" value={String(count('EXHAUSTED'))}>
          <Link to="/deliveries?state=EXHAUSTED">given up after 7 days</Link>
        </Tile>
      </ul>
    </>
  )
}

function Latest({ deliveries }: { deliveries: readonly Delivery[] }) {
  if (deliveries.length === 0) {
    return (
      <Empty title="No deliveries yet">
        As soon as one of your payments changes, each of your active endpoints gets a callback, and
        it is listed here.
      </Empty>
    )
  }
  return (
    <Table label="Latest deliveries" columns={COLUMNS} rows={deliveries} keyOf={({ id }) => id} />
  )
}
