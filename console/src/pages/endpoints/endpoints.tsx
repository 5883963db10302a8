// The endpoints and their health. The operator sees those of all clients.

import { useRead } from '../../api/hooks.ts'
import { useSession } from '../../api/session.ts'
import type { Endpoint, Page } from '../../api/types.ts'
import { FindFilter } from '../../filters/find-filter.tsx'
import { SearchFilter } from '../../filters/search-filter.tsx'
import { toQuery, useFilters } from '../../router.ts'
import { Address } from '../../ui/basics/address.tsx'
import { Link } from '../../ui/basics/link.tsx'
import { Empty, Loading, Problem } from '../../ui/basics/messages.tsx'
import { ClientLink } from '../../ui/basics/owner.tsx'
import { PageHead, Panel } from '../../ui/basics/page.tsx'
import { Select } from '../../ui/forms/field.tsx'
import { useFolded } from '../../ui/lists/filter-toggle.tsx'
import { toCountText, toMsText, toShareText } from '../../ui/lists/numbers.ts'
import { Pages } from '../../ui/lists/pages.tsx'
import { type Column, Table } from '../../ui/lists/table.tsx'
import { Day } from './day.tsx'
import { HealthText } from './health.tsx'
import { OwnEndpoints } from './own-endpoints.tsx'

const PENDING_COUNTED_MAX = 10_000
const FILTERS = ['q', 'clientId', 'accountId', 'kind', 'status', 'failing', 'page'] as const

const COLUMNS: readonly Column<Endpoint>[] = [
  {
    head: 'Endpoint',
    sort: 'endpointUrl',
    cell: ({ id, endpointUrl, kind }) => (
      <>
        <Link to={`/endpoints/${id}`}>
          <Address url={endpointUrl} />
        </Link>
        <div className="muted">{kind}</div>
      </>
    ),
  },
  {
    head: 'Client',
    cell: ({ clientId, clientName }) => <ClientLink id={clientId} name={clientName} />,
  },
  {
    head: 'Health',
    sort: 'failingSince',
    cell: ({ health, status }) => <HealthText of={health} status={status} />,
  },
  { head: 'Last 24 h', cell: ({ hours }) => <Day hours={hours} /> },
  {
    head: 'Success',
    isNumber: true,
    cell: ({ health }) => (
      <>
        {toShareText(health?.successRate24h ?? null)}
        <div className="muted">{health?.p95Ms ? `p95 ${toMsText(health.p95Ms)}` : null}</div>
      </>
    ),
  },
  { head: 'Pending', isNumber: true, cell: ({ health }) => pendingText(health?.pending ?? 0) },
]

export default function Endpoints() {
  return useSession().kind === 'operator' ? <AllEndpoints /> : <OwnEndpoints />
}

function AllEndpoints() {
  const { query, setFilters } = useFilters()
  const value = (name: string) => query.get(name) ?? ''
  const sort = query.get('sort') ?? 'createdAt'
  const given = Object.fromEntries(FILTERS.map((name) => [name, query.get(name)]))
  const { data, error, isPending } = useRead<Page<Endpoint>>(
    `/operator/v1/endpoints${toQuery({ ...given, sort, size: '50' })}`,
    { everyMs: 5_000, keepsLast: true },
  )
  const folded = useFolded(FILTERS.some((name) => query.has(name)))
  const filter = (changes: Record<string, string>) => setFilters({ ...changes, page: null })
  return (
    <>
      <PageHead title="Endpoints" />
      <form
        className={`filters${folded.className}`}
        aria-label="Endpoints"
        onSubmit={(event) => event.preventDefault()}
      >
        <SearchFilter label="Address" placeholder="Address or id" />
        <Select
          label="Health"
          value={value('failing')}
          options={[
            ['', 'Any'],
            ['true', 'Failing'],
            ['false', 'Not failing'],
          ]}
          onChange={(event) => filter({ failing: event.target.value })}
        />
        <Select
          label="Status"
          value={value('status')}
          options={[['', 'Any'], 'ACTIVE', 'PAUSED', 'DISABLED']}
          onChange={(event) => filter({ status: event.target.value })}
        />
        <Select
          label="Kind"
          value={value('kind')}
          options={[['', 'Any'], 'webhook', 'subscription', 'listener']}
          onChange={(event) => filter({ kind: event.target.value })}
        />
        <FindFilter
          of="client"
          value={value('clientId')}
          onChange={(clientId) => filter({ clientId })}
        />
        {query.has('accountId') ? (
          <FindFilter
            of="account"
            value={value('accountId')}
            onChange={(accountId) => filter({ accountId })}
          />
        ) : null}
        {folded.toggle}
      </form>
      <Panel title="All endpoints" isFlush>
        {error ? <Problem problem={error} /> : null}
        {isPending ? <Loading rows={12} /> : null}
        {data && data.content.length > 0 ? (
          <div className="endpoint-rows">
            <Table
              label="Endpoints"
              columns={COLUMNS}
              rows={data.content}
              keyOf={({ id }) => id}
              sort={sort}
              onSort={(next) => filter({ sort: next })}
            />
          </div>
        ) : null}
        {data && data.content.length === 0 ? (
          <NoEndpoints isFiltered={FILTERS.some((name) => query.has(name))} />
        ) : null}
        {data && data.totalElements > 0 ? <Pages of={data} /> : null}
      </Panel>
    </>
  )
}

/** Lists stop counting here. */
function pendingText(pending: number): string {
  return pending >= PENDING_COUNTED_MAX ? `${toCountText(pending)} +` : toCountText(pending)
}

function NoEndpoints({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No endpoint matches this filter" />
  return (
    <Empty
      title="No endpoints yet"
      curl={`curl -s ${window.location.origin}/v1/webhooks/register \\
  -H "Authorization: Bearer $TOKEN" -H "AccountId: $ACCOUNT" -H 'Content-Type: application/json' \\
  -d '{"callbackUrl": "https://example.com/paybell", "sharedKey": "a-long-random-text-that-only-we-two-know"}'`}
    >
      Clients register them, with a token of their own.
    </Empty>
  )
}
