// A client's own endpoints: the webhooks of its accounts, and its subscriptions.

import { useState } from 'react'
import { useRead } from '../../api/hooks.ts'
import { useSession } from '../../api/session.ts'
import type { Endpoint, EndpointKind, Page } from '../../api/types.ts'
import { Button } from '../../ui/basics/button.tsx'
import { Link } from '../../ui/basics/link.tsx'
import { Empty, Loading, Problem } from '../../ui/basics/messages.tsx'
import { PageHead, Panel } from '../../ui/basics/page.tsx'
import { toCountText, toShareText } from '../../ui/lists/numbers.ts'
import { type Column, Table } from '../../ui/lists/table.tsx'
import { DOORS, ownEndpointPath } from '../endpoint/doors.ts'
import { HealthText } from './health.tsx'
import { KINDS } from './kinds.ts'
import { NoticesPanel } from './notices.tsx'
import { Register } from './register.tsx'

const ORDER: readonly EndpointKind[] = ['webhook', 'subscription', 'listener']

export function OwnEndpoints() {
  const [isRegistering, setRegistering] = useState(false)
  const hasNone = useHasNone()
  return (
    <>
      <PageHead title="Endpoints">
        <Button look="primary" onClick={() => setRegistering(true)}>
          Register an endpoint
        </Button>
      </PageHead>
      {hasNone ? (
        <Panel title="Your endpoints" isFlush>
          <Empty title="No endpoints yet">
            <ul className="stack">
              {ORDER.map((kind) => (
                <li key={kind}>{KINDS[kind].about}</li>
              ))}
            </ul>
          </Empty>
        </Panel>
      ) : (
        ORDER.map((kind) => <OwnList key={kind} kind={kind} />)
      )}
      <NoticesPanel />
      {isRegistering ? <Register onClose={() => setRegistering(false)} /> : null}
    </>
  )
}

/** Instead of a box for each kind that has nothing in it. The lists below ask for the same and share the answers. */
function useHasNone(): boolean {
  const webhooks = useRead<Page<Endpoint>>(pathOf('webhook'))
  const subscriptions = useRead<Page<Endpoint>>(pathOf('subscription'))
  const listeners = useRead<Page<Endpoint>>(pathOf('listener'))
  return [webhooks, subscriptions, listeners].every(({ data }) => data?.content.length === 0)
}

const pathOf = (kind: EndpointKind) => `${DOORS[kind]}?size=100`

/** Beside others, a list that has nothing says nothing. */
export function OwnList({ kind }: { kind: EndpointKind }) {
  const { title } = KINDS[kind]
  const { accounts = [] } = useSession()
  const { data, error, isPending } = useRead<Page<Endpoint>>(pathOf(kind), {
    everyMs: 10_000,
  })
  const columns: Column<Endpoint>[] = [
    {
      head: 'Endpoint',
      cell: ({ id, endpointUrl, accountId }) => (
        <Link
          to={`/endpoints/${id}?kind=${kind}${accountId ? `&account=${accountId}` : ''}`}
          className="break"
        >
          {endpointUrl}
        </Link>
      ),
    },
    ...(kind !== 'subscription'
      ? [
          {
            head: 'Account',
            cell: ({ accountId }: Endpoint) => (
              <span className="cut" title={accountId ?? undefined}>
                {accounts.find(({ id }) => id === accountId)?.name ?? accountId ?? '–'}
              </span>
            ),
          },
        ]
      : []),
    { head: 'Health', cell: ({ id }) => <OwnHealth kind={kind} id={id} of="health" /> },
    {
      head: 'Success, 24 h',
      isNumber: true,
      cell: ({ id }) => <OwnHealth kind={kind} id={id} of="rate" />,
    },
    {
      head: 'Pending',
      isNumber: true,
      cell: ({ id }) => <OwnHealth kind={kind} id={id} of="pending" />,
    },
  ]
  if (data?.content.length === 0) return null
  return (
    <Panel title={title} isFlush>
      {error ? <Problem problem={error} /> : null}
      {isPending ? <Loading /> : null}
      {data && data.content.length > 0 ? (
        <Table label={title} columns={columns} rows={data.content} keyOf={({ id }) => id} />
      ) : null}
    </Panel>
  )
}

/** Lists do not have it: read for each endpoint, once for all its cells. */
function OwnHealth({
  kind,
  id,
  of,
}: {
  kind: EndpointKind
  id: string
  of: 'health' | 'rate' | 'pending'
}) {
  const { data } = useRead<Endpoint>(ownEndpointPath(kind, id), { everyMs: 10_000 })
  if (of === 'health') return <HealthText of={data?.health} status={data?.status ?? ''} />
  if (data?.health === undefined) return '–'
  return of === 'rate' ? toShareText(data.health.successRate24h) : toCountText(data.health.pending)
}
