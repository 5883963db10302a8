// One client: its accounts, its secrets and keys, a link that signs it in here, and the switch that disables it.

import { useRead } from '../../api/hooks.ts'
import { useCan } from '../../api/session.ts'
import type { ClientWithSecrets } from '../../api/types.ts'
import { State } from '../../ui/basics/badge.tsx'
import { Id } from '../../ui/basics/copy.tsx'
import { Link } from '../../ui/basics/link.tsx'
import { Loading, Problem } from '../../ui/basics/messages.tsx'
import { Facts, PageHead, Panel } from '../../ui/basics/page.tsx'
import { Time } from '../../ui/times/time.tsx'
import type { PageProps } from '../page-props.ts'
import { Accounts } from './accounts.tsx'
import { ClientKeys } from './client-keys.tsx'
import { ConsoleLinkButton } from './console-link.tsx'
import { Secrets } from './secrets.tsx'
import { StatusButton } from './status-button.tsx'

/** Facts, accounts, secrets, keys. */
const SHAPE = [[152], [190], [170], [280]]

export default function ClientPage({ params }: PageProps) {
  const path = `/operator/v1/clients/${encodeURIComponent(params.id ?? '')}`
  const { data, error, isPending } = useRead<ClientWithSecrets>(path)
  const canAct = useCan('admin')
  return (
    <>
      <PageHead title={data?.name ?? 'Client'} above={<Link to="/clients">Clients</Link>}>
        {data ? (
          <>
            <State of={data.status} />
            {canAct && data.status === 'ACTIVE' ? (
              <ConsoleLinkButton client={data} path={path} />
            ) : null}
            {canAct ? <StatusButton client={data} path={path} /> : null}
          </>
        ) : null}
      </PageHead>
      {error ? <Problem problem={error} /> : null}
      {isPending ? <Loading panels={SHAPE} /> : null}
      {data ? (
        <>
          <Panel title="Client">
            <Facts
              of={[
                ['Client id', <Id key="id" value={data.clientId} />],
                ['Created', <Time key="at" at={data.createdAt} />],
                [
                  'See',
                  <span key="see" className="row">
                    <Link to={`/endpoints?clientId=${data.clientId}`}>its endpoints</Link>
                    <Link to={`/payments?clientId=${data.clientId}`}>its payments</Link>
                    <Link to={`/deliveries?clientId=${data.clientId}`}>its deliveries</Link>
                    <Link to={`/audit?object=client:${data.clientId}`}>its audit</Link>
                  </span>,
                ],
              ]}
            />
          </Panel>
          <Accounts path={path} canAct={canAct} />
          <Secrets client={data} path={path} canAct={canAct} />
          <ClientKeys client={data} path={path} canAct={canAct} />
        </>
      ) : null}
    </>
  )
}
