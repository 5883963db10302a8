// One endpoint: its health, and what can be done about it, in tabs. What polls is mounted while it is in sight; forms and
// reports stay as they were left.

import { useFollow } from '../../api/follow.ts'
import { useCan, useSession } from '../../api/session.ts'
import type { Endpoint } from '../../api/types.ts'
import { HealthWord } from '../../ui/basics/health-word.tsx'
import { Link } from '../../ui/basics/link.tsx'
import { Loading, Notice, Problem } from '../../ui/basics/messages.tsx'
import { PageHead } from '../../ui/basics/page.tsx'
import { Tab, type TabNames, Tabs, toTab, useTab } from '../../ui/basics/tabs.tsx'
import type { PageProps } from '../page-props.ts'
import { Actions } from './actions.tsx'
import { EndpointDeliveries } from './deliveries.tsx'
import { DemoReceiver, demoReceiverName, receiverPath } from './demo-receiver.tsx'
import { FactsPanel, HealthPanel } from './health.tsx'
import { CatchUp } from './recover/catch-up.tsx'
import { Recover } from './recover/recover.tsx'
import { StatementPanel } from './recover/statement.tsx'
import { SeriesPanel } from './series.tsx'
import { SettingsPanel } from './settings.tsx'
import { TryOut } from './try-out.tsx'
import { useEndpoint } from './use-endpoint.ts'
import './endpoint.css'

const TABS: TabNames = [
  ['', 'Overview'],
  ['deliveries', 'Deliveries'],
  ['settings', 'Settings'],
  ['recover', 'Recover'],
]

/** What tells a client's page which endpoint it is about. */
const KEPT = ['kind', 'account']

const SHAPES: Readonly<Record<string, readonly (readonly number[])[]>> = {
  '': [[230, 230], [275]],
  deliveries: [[400]],
  settings: [[205]],
  recover: [[160], [160]],
}

export default function EndpointPage({ params }: PageProps) {
  const { endpoint, error, path } = useEndpoint(params.id ?? '')
  const { mode } = useSession()
  const canAct = useCan('admin')
  const tab = useTab(TABS)
  const canChange = canAct && !endpoint?.deletedAt
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
              isTried={endpoint.health?.lastSuccessAt !== null}
            />
            {canChange ? <Actions endpoint={endpoint} path={path} /> : null}
          </>
        ) : null}
      </PageHead>
      {error ? <Problem problem={error} /> : null}
      {endpoint === undefined && !error ? <Loading panels={SHAPES[tab] ?? []} /> : null}
      {endpoint ? (
        <>
          <StatusNotice endpoint={endpoint} toRecover={toTab('recover', KEPT)} />
          <Tabs label="Endpoint" of={TABS} current={tab} keeps={KEPT} />
          <Tab isCurrent={tab === ''}>
            <div className="endpoint-panels">
              <HealthPanel
                endpoint={endpoint}
                toPending={toTab('deliveries', KEPT, { state: 'PENDING' })}
              />
              <FactsPanel endpoint={endpoint} />
            </div>
            {tab === '' && mode === 'sandbox' && path === null && receiver !== null ? (
              <DemoReceiver name={receiver} canAct={canAct} />
            ) : null}
            {path === null ? null : <TryOut path={path} canCheck={endpoint.kind !== 'listener'} />}
            {tab === '' ? (
              <SeriesPanel path={path ?? `/operator/v1/endpoints/${endpoint.id}`} />
            ) : null}
          </Tab>
          {tab === 'deliveries' ? <EndpointDeliveries endpointId={endpoint.id} /> : null}
          <Tab isCurrent={tab === 'settings'}>
            <SettingsPanel endpoint={endpoint} path={path} canAct={canAct} />
          </Tab>
          <Tab isCurrent={tab === 'recover'}>
            {canChange ? <Recover endpointId={endpoint.id} path={path} /> : null}
            {canChange && path !== null ? <CatchUp path={path} /> : null}
            <StatementPanel endpointId={endpoint.id} path={path} />
          </Tab>
        </>
      ) : null}
    </>
  )
}

function StatusNotice({
  endpoint: { status, deletedAt },
  toRecover,
}: {
  endpoint: Endpoint
  toRecover: string
}) {
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
        Every attempt of 7 days failed. Resume it when the receiver works again, then{' '}
        <Link to={toRecover}>recover what it missed</Link>.
      </Notice>
    )
  }
  return null
}
