// A client's first page: whether its callbacks arrived, and if not, what became of them.

import { useRead } from '../../api/hooks.ts'
import { useSession } from '../../api/session.ts'
import type { CursorPage, Delivery, Endpoint, OwnStats, Page } from '../../api/types.ts'
import { Address } from '../../ui/basics/address.tsx'
import { State } from '../../ui/basics/badge.tsx'
import { shortId } from '../../ui/basics/copy.tsx'
import { Link } from '../../ui/basics/link.tsx'
import { Empty, Loading, Notice, Problem } from '../../ui/basics/messages.tsx'
import { toOutcomeText } from '../../ui/basics/outcome.ts'
import { PageHead, Panel } from '../../ui/basics/page.tsx'
import { toCountText } from '../../ui/lists/numbers.ts'
import { type Column, Table } from '../../ui/lists/table.tsx'
import { NextAttempt } from '../../ui/times/next-attempt.tsx'
import { Time } from '../../ui/times/time.tsx'
import { DOORS } from '../endpoint/doors.ts'
import { OwnList } from '../endpoints/own-endpoints.tsx'
import { ApiAccess } from '../first-look/api-access.tsx'
import { FirstLook } from '../first-look/first-look.tsx'
import { Tile } from './tiles.tsx'

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
      <Link
        to={`/payments/${paymentId}`}
        className={externalId === null ? 'nowrap' : 'break'}
        title={paymentId}
      >
        {externalId ?? shortId(paymentId)}
      </Link>
    ),
  },
  { head: 'State', cell: ({ state }) => <State of={state} /> },
  { head: 'To', cell: ({ endpointUrl }) => <Address url={endpointUrl} /> },
  { head: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
  {
    head: 'Last',
    cell: ({ lastOutcome }) => (lastOutcome === null ? '–' : toOutcomeText(lastOutcome)),
  },
  { head: 'Created', cell: ({ createdAt }) => <Time at={createdAt} as="short" /> },
  { head: 'Next', cell: (delivery) => <NextAttempt of={delivery} /> },
]

export function OwnOverview() {
  const { clientName } = useSession()
  const { data, error } = useRead<CursorPage<Delivery>>(`/v1/deliveries?limit=${SHOWN}`, {
    everyMs: 3_000,
  })
  const stats = useRead<OwnStats>('/v1/stats', { everyMs: 3_000, keepsLast: true })
  const own = useOwnFirst()
  const isNew = data !== undefined && data.items.length === 0
  return (
    <>
      <PageHead title="Overview">
        <span className="muted">{clientName}</span>
      </PageHead>
      {error ? <Problem problem={error} /> : null}
      {stats.data && own.first && !isNew ? <Summary stats={stats.data} /> : null}
      {isNew && own.isRead ? <FirstLook endpoint={own.first} /> : null}
      {own.first ? (
        <>
          <OwnList kind="webhook" />
          <OwnList kind="subscription" />
        </>
      ) : null}
      <Panel title="Latest deliveries" isFlush aside={<Link to="/deliveries">All deliveries</Link>}>
        {data ? <Latest deliveries={data.items} /> : error ? null : <Loading rows={9} />}
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

function Summary({ stats: { endpoints, deliveries } }: { stats: OwnStats }) {
  return (
    <>
      <OwnVerdict endpoints={endpoints} pending={deliveries.pending} />
      <ul className="tiles" aria-label="Your deliveries, over all accounts">
        <Tile name="Delivered, 24 hours" value={toCountText(deliveries.delivered24h)}>
          <Link to="/deliveries?state=DELIVERED">
            {toCountText(deliveries.delivered7d)} in 7 days, by whole hours
          </Link>
        </Tile>
        <Tile name="Pending now" value={toCountText(deliveries.pending)}>
          <Link to="/deliveries?state=PENDING">
            {toCountText(deliveries.due)} due, {toCountText(deliveries.waiting)} not due yet
          </Link>
        </Tile>
        <Tile name="Given up, 24 hours" value={toCountText(deliveries.exhausted24h)}>
          <Link to="/deliveries?state=EXHAUSTED">
            {toCountText(deliveries.exhausted7d)} in 7 days
          </Link>
        </Tile>
      </ul>
    </>
  )
}

/** Nothing is called well while an endpoint does not take its callbacks. */
function OwnVerdict({ endpoints, pending }: { endpoints: OwnStats['endpoints']; pending: number }) {
  const { healthy, failing, paused, disabled } = endpoints
  const all = healthy + failing + paused + disabled
  const closed = [
    ...(failing > 0 ? [`${failing} failing`] : []),
    ...(disabled > 0 ? [`${disabled} disabled`] : []),
    ...(paused > 0 ? [`${paused} paused`] : []),
  ].join(', ')
  const waits = `${toCountText(pending)} ${pending === 1 ? 'callback is' : 'callbacks are'} pending.`
  if (failing + disabled > 0) {
    return (
      <Notice tone="warn" title={`Of your ${all} endpoints: ${closed}`}>
        {waits} Each is tried again for 7 days; only HTTP 200 counts.{' '}
        <Link to="/deliveries?state=PENDING">See why</Link>
      </Notice>
    )
  }
  return paused > 0 ? (
    <Notice tone="info" title={`Of your ${all} endpoints: ${closed}`}>
      {waits} What is owed to a paused endpoint waits until it is resumed.
    </Notice>
  ) : (
    <Notice tone="good" title="Your callbacks arrive">
      The last attempt at each of your endpoints was accepted. {waits}
    </Notice>
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
