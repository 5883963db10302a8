// A client's own endpoints: the webhooks of its accounts, and its subscriptions.

import { useState } from 'react'
import { useRead } from '../../api/hooks.ts'
import { useSession } from '../../api/session.ts'
import type { EndpointKind, Page, Webhook } from '../../api/types.ts'
import { Button } from '../../ui/basics/button.tsx'
import { Link } from '../../ui/basics/link.tsx'
import { Empty, Loading, Problem } from '../../ui/basics/messages.tsx'
import { PageHead, Panel } from '../../ui/basics/page.tsx'
import { toCountText, toShareText } from '../../ui/lists/numbers.ts'
import { type Column, Table } from '../../ui/lists/table.tsx'
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

/** Instead of a box for each kind that has nothing in it. */
function useHasNone(): boolean {
  return useRead<Page<Webhook>>('/v1/webhooks?kind=any&size=1').data?.totalElements === 0
}

const SHOWN_MAX = 100

/** Those that fail come first. Beside others, a list that has nothing says nothing. */
export function OwnList({ kind }: { kind: EndpointKind }) {
  const { title } = KINDS[kind]
  const { accounts = [] } = useSession()
  const { data, error, isPending } = useRead<Page<Webhook>>(
    `/v1/webhooks?kind=${kind}&health=true&sort=failingSince&size=${SHOWN_MAX}`,
    { everyMs: 10_000 },
  )
  const columns: Column<Webhook>[] = [
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
            cell: ({ accountId }: Webhook) => (
              <span className="cut" title={accountId}>
                {accounts.find(({ id }) => id === accountId)?.name ?? accountId ?? '–'}
              </span>
            ),
          },
        ]
      : []),
    { head: 'Health', cell: ({ health, status }) => <HealthText of={health} status={status} /> },
    {
      head: 'Success, 24 h',
      isNumber: true,
      cell: ({ health }) => (health ? toShareText(health.successRate24h) : '–'),
    },
    {
      head: 'Pending',
      isNumber: true,
      cell: ({ health }) => (health ? toCountText(health.pending) : '–'),
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
      {data && data.totalElements > SHOWN_MAX ? (
        <p className="muted">
          {SHOWN_MAX} of {toCountText(data.totalElements)} are shown, failing ones first. Find the
          others by their address, with the search above, or list them:{' '}
          <code>paybell webhooks list --kind {kind} --page 1</code>
        </p>
      ) : null}
    </Panel>
  )
}
