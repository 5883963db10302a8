// How an endpoint does, and what it is.

import { useSession } from '../../api/session.ts'
import type { Endpoint } from '../../api/types.ts'
import { Id } from '../../ui/basics/copy.tsx'
import { Link } from '../../ui/basics/link.tsx'
import { toOutcomeText } from '../../ui/basics/outcome.ts'
import { ClientLink } from '../../ui/basics/owner.tsx'
import { Facts, Panel } from '../../ui/basics/page.tsx'
import { toCountText, toMsText, toShareText } from '../../ui/lists/numbers.ts'
import { NextTime } from '../../ui/times/next-attempt.tsx'
import { Time } from '../../ui/times/time.tsx'
import { Day } from '../endpoints/day.tsx'

/** What an endpoint is that does not fail, and to which nothing is sent. */
const NOT_ACTIVE: Readonly<Record<string, string>> = { PAUSED: 'paused', DISABLED: 'disabled' }

/** `toPending` leads to what is pending for it. */
export function HealthPanel({
  endpoint: { health, hours, status },
  toPending,
}: {
  endpoint: Endpoint
  toPending: string
}) {
  if (health === undefined) return null
  return (
    <Panel title="Health">
      <Facts
        of={[
          [
            'Now',
            health.failingSince ? (
              <span key="now">
                failing since <Time at={health.failingSince} as="short" />:{' '}
                {toOutcomeText(health.lastError)}
              </span>
            ) : health.lastSuccessAt ? (
              (NOT_ACTIVE[status] ?? 'healthy')
            ) : (
              'not tried yet'
            ),
          ],
          ['Last 200', <Time key="last" at={health.lastSuccessAt} />],
          ...(health.nextProbeAt === null || status !== 'ACTIVE'
            ? []
            : [['Next probe', <NextTime key="probe" at={health.nextProbeAt} />] as const]),
          [
            'Pending',
            health.pending === 0 ? (
              '0'
            ) : (
              <Link key="pending" to={toPending}>
                {toCountText(health.pending)}
              </Link>
            ),
          ],
          ['Success, 24 h', toShareText(health.successRate24h)],
          ['p95 latency, 24 h', toMsText(health.p95Ms)],
          ...(hours ? [['Last 24 hours', <Day key="day" hours={hours} />] as const] : []),
        ]}
      />
    </Panel>
  )
}

export function FactsPanel({ endpoint }: { endpoint: Endpoint }) {
  const { accounts, kind } = useSession()
  const account = accounts?.find(({ id }) => id === endpoint.accountId)
  return (
    <Panel title="Endpoint">
      <Facts
        of={[
          ['Id', <Id key="id" value={endpoint.id} />],
          ['Kind', endpoint.kind],
          ...(endpoint.clientId
            ? [
                [
                  'Client',
                  <ClientLink key="client" id={endpoint.clientId} name={endpoint.clientName} />,
                ] as const,
              ]
            : []),
          ...(endpoint.accountId
            ? [
                [
                  'Account',
                  account?.name ?? endpoint.accountName ?? (
                    <Id key="account" value={endpoint.accountId} />
                  ),
                ] as const,
              ]
            : []),
          ['Algorithm', endpoint.algorithm],
          ...(endpoint.createdAt
            ? [['Created', <Time key="created" at={endpoint.createdAt} />] as const]
            : []),
          ...(endpoint.deletedAt
            ? [['Deleted', <Time key="deleted" at={endpoint.deletedAt} />] as const]
            : []),
        ]}
      />
      {kind === 'operator' ? (
        <p className="muted">
          Only the client can send a test, check its receiver or rotate the key: it alone knows the
          key.
        </p>
      ) : null}
    </Panel>
  )
}
