// One endpoint: its health, and what can be done about it.

import { useState } from 'react'
import { api } from '../../api/client.ts'
import { useFollow } from '../../api/follow.ts'
import { useAction, useRefresh } from '../../api/hooks.ts'
import { useCan, useSession } from '../../api/session.ts'
import type { Endpoint } from '../../api/types.ts'
import { navigate } from '../../router.ts'
import { Button } from '../../ui/basics/button.tsx'
import { Id } from '../../ui/basics/copy.tsx'
import { HealthWord } from '../../ui/basics/health-word.tsx'
import { Link } from '../../ui/basics/link.tsx'
import { Loading, Notice, Problem } from '../../ui/basics/messages.tsx'
import { toOutcomeText } from '../../ui/basics/outcome.ts'
import { ClientLink } from '../../ui/basics/owner.tsx'
import { Facts, PageHead, Panel } from '../../ui/basics/page.tsx'
import { useToast } from '../../ui/basics/toast.tsx'
import { Confirm } from '../../ui/forms/dialog.tsx'
import { toCountText, toMsText, toShareText } from '../../ui/lists/numbers.ts'
import { NextTime } from '../../ui/times/next-attempt.tsx'
import { Time } from '../../ui/times/time.tsx'
import { Day } from '../endpoints/day.tsx'
import { Register } from '../endpoints/register.tsx'
import type { PageProps } from '../page-props.ts'
import { CatchUp } from './catch-up.tsx'
import { DemoReceiver, demoReceiverName, receiverPath } from './demo-receiver.tsx'
import { LatestDeliveries } from './latest-deliveries.tsx'
import { Recover } from './recover.tsx'
import { RetryEndpoint } from './retry-endpoint.tsx'
import { SeriesPanel } from './series.tsx'
import { SettingsPanel } from './settings.tsx'
import { StatementPanel } from './statement.tsx'
import { TryOut } from './try-out.tsx'
import { useEndpoint } from './use-endpoint.ts'
import './endpoint.css'

/** Health, facts and settings beside each other; attempts by the hour, the latest deliveries. */
const SHAPE = [[230, 300, 205], [275], [300]]

export default function EndpointPage({ params }: PageProps) {
  const { endpoint, error, path } = useEndpoint(params.id ?? '')
  const { mode } = useSession()
  const canAct = useCan('admin')
  const receiver = endpoint ? demoReceiverName(endpoint.endpointUrl) : null
  useFollow(
    {
      // A subscription covers all accounts of its client, and stream events do not name the client.
      accepted: ({ accountId }) => accountId === (endpoint?.accountId ?? accountId),
      attempt: ({ endpointId }) => endpointId === endpoint?.id,
    },
    '/operator/v1/endpoints',
    '/operator/v1/deliveries',
    receiverPath(receiver ?? ''),
  )
  return (
    <>
      <PageHead
        title={endpoint?.endpointUrl ?? 'Endpoint'}
        above={<Link to="/endpoints">Endpoints</Link>}
      >
        {endpoint ? (
          <>
            <HealthWord
              status={endpoint.deletedAt ? 'DELETED' : endpoint.status}
              isFailing={endpoint.health?.failingSince != null}
            />
            {canAct && !endpoint.deletedAt ? <Actions endpoint={endpoint} path={path} /> : null}
          </>
        ) : null}
      </PageHead>
      {error ? <Problem problem={error} /> : null}
      {endpoint === undefined && !error ? <Loading panels={SHAPE} /> : null}
      {endpoint ? (
        <>
          <StatusNotice endpoint={endpoint} />
          <div className="endpoint-panels">
            <HealthPanel endpoint={endpoint} />
            <FactsPanel endpoint={endpoint} />
            <SettingsPanel endpoint={endpoint} path={path} canAct={canAct} />
          </div>
          <SeriesPanel path={path ?? `/operator/v1/endpoints/${endpoint.id}`} />
          <LatestDeliveries endpointId={endpoint.id} />
          {mode === 'sandbox' && path === null && receiver !== null ? (
            <DemoReceiver name={receiver} canAct={canAct} />
          ) : null}
          {path === null ? null : <TryOut path={path} canCheck={endpoint.kind !== 'listener'} />}
          {canAct && !endpoint.deletedAt ? <Recover endpointId={endpoint.id} path={path} /> : null}
          {canAct && !endpoint.deletedAt && path !== null ? <CatchUp path={path} /> : null}
          <StatementPanel endpointId={endpoint.id} path={path} />
        </>
      ) : null}
    </>
  )
}

function StatusNotice({ endpoint: { status, deletedAt } }: { endpoint: Endpoint }) {
  if (deletedAt) {
    return (
      <Notice tone="info" title="This endpoint was deleted">
        Its history is kept; nothing more is sent to it.
      </Notice>
    )
  }
  if (status === 'PAUSED') {
    return (
      <Notice tone="warn" title="Paused">
        Nothing is sent and nothing is lost: everything pending, and everything new, is sent in
        order when it is resumed.
      </Notice>
    )
  }
  if (status === 'DISABLED') {
    return (
      <Notice tone="bad" title="Disabled by the service">
        Every attempt of 7 days failed. Resume it when the receiver works again, then recover what
        it missed.
      </Notice>
    )
  }
  return null
}

function HealthPanel({ endpoint: { health, hours, status } }: { endpoint: Endpoint }) {
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
              'healthy'
            ) : (
              'not tried yet'
            ),
          ],
          ['Last 200', <Time key="last" at={health.lastSuccessAt} />],
          ...(health.nextProbeAt === null || status !== 'ACTIVE'
            ? []
            : [['Next probe', <NextTime key="probe" at={health.nextProbeAt} />] as const]),
          ['Pending', toCountText(health.pending)],
          ['Success, 24 h', toShareText(health.successRate24h)],
          ['p95 latency', toMsText(health.p95Ms)],
          ...(hours ? [['Last 24 hours', <Day key="day" hours={hours} />] as const] : []),
        ]}
      />
    </Panel>
  )
}

function FactsPanel({ endpoint }: { endpoint: Endpoint }) {
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

/** `path` is the endpoint in the client's API; the operator may pause and resume. */
function Actions({ endpoint, path }: { endpoint: Endpoint; path: string | null }) {
  const refresh = useRefresh()
  const toast = useToast()
  const [asking, setAsking] = useState<'rotate' | 'delete' | null>(null)
  const change = useAction(
    (status: 'ACTIVE' | 'PAUSED') =>
      api.patch(path ?? `/operator/v1/endpoints/${endpoint.id}`, { status }),
    {
      onDone: (_, status) => {
        refresh('/operator/v1/endpoints', '/operator/v1/deliveries', '/v1/')
        refresh('/api/v1/payments/subscriptions')
        toast(status === 'PAUSED' ? 'Paused.' : 'Resumed.')
      },
      onError: (problem) => toast(problem.message, 'bad'),
    },
  )
  const remove = useAction(() => api.delete(path ?? ''), {
    onDone: () => {
      refresh('/v1/webhooks', '/v1/listeners', '/api/v1/payments/subscriptions')
      toast('Deleted.')
      navigate('/endpoints')
    },
    onError: (problem) => toast(problem.message, 'bad'),
  })
  const isActive = endpoint.status === 'ACTIVE'
  const isKeyed = endpoint.kind === 'webhook' ? endpoint.accountId : endpoint.kind !== 'listener'
  const canRotate = path !== null && isKeyed
  return (
    <>
      {isActive && endpoint.kind !== 'listener' && (endpoint.health?.pending ?? 0) > 0 ? (
        <RetryEndpoint path={path ?? `/operator/v1/endpoints/${endpoint.id}`} />
      ) : null}
      <Button
        disabled={change.isPending}
        onClick={() => change.mutate(isActive ? 'PAUSED' : 'ACTIVE')}
      >
        {isActive ? 'Pause' : 'Resume'}
      </Button>
      {canRotate ? <Button onClick={() => setAsking('rotate')}>Rotate the key</Button> : null}
      {path === null ? null : (
        <Button look="danger" onClick={() => setAsking('delete')}>
          Delete
        </Button>
      )}
      {asking === 'rotate' ? (
        <Register
          existing={{
            kind: endpoint.kind,
            accountId: endpoint.accountId ?? null,
            endpointUrl: endpoint.endpointUrl,
          }}
          onClose={() => setAsking(null)}
        />
      ) : null}
      {asking === 'delete' ? (
        <Confirm
          title="Delete this endpoint?"
          action="Delete the endpoint"
          isDanger
          isBusy={remove.isPending}
          onConfirm={() => remove.mutate(undefined)}
          onClose={() => setAsking(null)}
        >
          <p>
            Its pending deliveries ({toCountText(endpoint.health?.pending ?? 0)}) are cancelled. The
            history is kept.
          </p>
        </Confirm>
      ) : null}
    </>
  )
}
