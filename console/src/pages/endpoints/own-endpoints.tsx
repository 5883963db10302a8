// A client's own endpoints: the webhooks of its accounts, and its subscriptions.

import { useState } from 'react'
import { useRead } from '../../api/hooks.ts'
import { useSession } from '../../api/session.ts'
import type { Endpoint, EndpointKind, Page } from '../../api/types.ts'
import { State } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Link } from '../../ui/link.tsx'
import { Empty, Loading, Problem } from '../../ui/messages.tsx'
import { toCountText, toShareText } from '../../ui/numbers.ts'
import { PageHead, Panel } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { DOORS, ownEndpointPath } from '../endpoint/doors.ts'
import { HealthText } from './health.tsx'
import { NoticesPanel } from './notices.tsx'
import { Register } from './register.tsx'

export function OwnEndpoints() {
  const [isRegistering, setRegistering] = useState(false)
  return (
    <>
      <PageHead title="Endpoints">
        <Button look="primary" onClick={() => setRegistering(true)}>
          Register an endpoint
        </Button>
      </PageHead>
      <OwnList kind="webhook" />
      <OwnList kind="subscription" />
      <OwnList kind="listener" />
      <NoticesPanel />
      {isRegistering ? <Register onClose={() => setRegistering(false)} /> : null}
    </>
  )
}

const TEXTS: Readonly<Record<EndpointKind, { title: string; empty: string }>> = {
  webhook: {
    title: 'Webhooks',
    empty: 'A webhook receives the payments of one account.',
  },
  subscription: {
    title: 'Subscriptions',
    empty: 'A subscription receives the payments of all your accounts.',
  },
  listener: {
    title: 'Listeners',
    empty: '“npx paybell listen” brings callbacks to a machine that is not reachable from outside.',
  },
}

/** `isLeftOutEmpty`: where other lists stand, one that has nothing says nothing. */
export function OwnList({
  kind,
  isLeftOutEmpty = false,
}: {
  kind: EndpointKind
  isLeftOutEmpty?: boolean
}) {
  const { title, empty } = TEXTS[kind]
  const { accounts = [] } = useSession()
  const { data, error, isPending } = useRead<Page<Endpoint>>(`${DOORS[kind]}?size=100`, {
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
            cell: ({ accountId }: Endpoint) =>
              accounts.find(({ id }) => id === accountId)?.name ?? accountId ?? '–',
          },
        ]
      : []),
    { head: 'Status', cell: ({ status }) => <State of={status} /> },
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
  if (isLeftOutEmpty && data?.content.length === 0) return null
  return (
    <Panel title={title} isFlush>
      {error ? <Problem problem={error} /> : null}
      {isPending ? <Loading /> : null}
      {data && data.content.length > 0 ? (
        <Table label={title} columns={columns} rows={data.content} keyOf={({ id }) => id} />
      ) : null}
      {data && data.content.length === 0 ? <Empty title={`No ${kind} yet`}>{empty}</Empty> : null}
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
  if (of === 'health') return <HealthText of={data?.health} />
  if (data?.health === undefined) return '–'
  return of === 'rate' ? toShareText(data.health.successRate24h) : toCountText(data.health.pending)
}
