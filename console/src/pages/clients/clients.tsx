// The clients, and the form that adds one.

import { useState } from 'react'
import { useRead } from '../../api/hooks.ts'
import { useCan } from '../../api/session.ts'
import type { ClientItem, Page } from '../../api/types.ts'
import { SearchFilter } from '../../filters/search-filter.tsx'
import { toQuery, useFilters } from '../../router.ts'
import { State } from '../../ui/basics/badge.tsx'
import { Button } from '../../ui/basics/button.tsx'
import { Id } from '../../ui/basics/copy.tsx'
import { Link } from '../../ui/basics/link.tsx'
import { Empty, Loading, Problem } from '../../ui/basics/messages.tsx'
import { PageHead, Panel } from '../../ui/basics/page.tsx'
import { Pages } from '../../ui/lists/pages.tsx'
import { type Column, Table } from '../../ui/lists/table.tsx'
import { Time } from '../../ui/times/time.tsx'
import { Onboard } from './onboard.tsx'

const COLUMNS: readonly Column<ClientItem>[] = [
  {
    head: 'Client',
    sort: 'name',
    cell: ({ clientId, name }) => (
      <Link to={`/clients/${clientId}`} className="break">
        {name}
      </Link>
    ),
  },
  { head: 'Status', cell: ({ status }) => <State of={status} /> },
  { head: 'Client id', cell: ({ clientId }) => <Id value={clientId} isShort /> },
  { head: 'Created', sort: 'createdAt', cell: ({ createdAt }) => <Time at={createdAt} /> },
]

export default function Clients() {
  const { query, setFilters } = useFilters()
  const sort = query.get('sort') ?? 'createdAt'
  const isSearched = query.has('q')
  const [isOnboarding, setOnboarding] = useState(false)
  const { data, error, isPending } = useRead<Page<ClientItem>>(
    `/operator/v1/clients${toQuery({
      q: query.get('q'),
      sort,
      page: query.get('page'),
      size: '50',
    })}`,
    { keepsLast: true },
  )
  return (
    <>
      <PageHead title="Clients">
        {useCan('admin') ? (
          <Button look="primary" onClick={() => setOnboarding(true)}>
            Onboard a client
          </Button>
        ) : null}
      </PageHead>
      <form className="filters" aria-label="Clients" onSubmit={(event) => event.preventDefault()}>
        <SearchFilter label="Name" placeholder="Name or id" />
      </form>
      <Panel title="All clients" isFlush>
        {error ? <Problem problem={error} /> : null}
        {isPending ? <Loading rows={12} /> : null}
        {data && data.content.length > 0 ? (
          <Table
            label="Clients"
            columns={COLUMNS}
            rows={data.content}
            keyOf={({ clientId }) => clientId}
            sort={sort}
            onSort={(next) => setFilters({ sort: next, page: null })}
          />
        ) : null}
        {data && data.totalElements === 0 && isSearched ? (
          <Empty title="No client matches this search">
            A search takes the beginnings of words of a name, or a whole id.
          </Empty>
        ) : null}
        {data && data.totalElements === 0 && !isSearched ? (
          <Empty
            title="No clients yet"
            curl={`curl -s ${window.location.origin}/operator/v1/clients \\
  -H "Authorization: Bearer $OPERATOR_KEY" -H 'Content-Type: application/json' \\
  -d '{"name": "Northwind Traders"}'`}
          >
            A client gets credentials and one or more accounts; its payments belong to those.
          </Empty>
        ) : null}
        {data && data.totalElements > 0 ? <Pages of={data} /> : null}
      </Panel>
      {isOnboarding ? <Onboard onClose={() => setOnboarding(false)} /> : null}
    </>
  )
}
