// One client: its accounts, its secrets, and the switch that disables it.

import { type FormEvent, useState } from 'react'
import { api } from '../../api/client.ts'
import { useAction, useRead, useRefresh } from '../../api/hooks.ts'
import { useCan } from '../../api/session.ts'
import type { Account, ClientWithSecrets, Page } from '../../api/types.ts'
import { State } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Id } from '../../ui/copy.tsx'
import { Confirm, Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Link } from '../../ui/link.tsx'
import { Empty, Loading, Problem } from '../../ui/messages.tsx'
import { Facts, PageHead, Panel } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { useToast } from '../../ui/toast.tsx'
import { SecretOnce } from '../clients/secret-once.tsx'
import type { PageProps } from '../page-props.ts'

const SECRETS_MAX = 2

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
            {canAct ? <StatusButton client={data} path={path} /> : null}
          </>
        ) : null}
      </PageHead>
      {error ? <Problem problem={error} /> : null}
      {isPending ? <Loading /> : null}
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
        </>
      ) : null}
    </>
  )
}

function StatusButton({ client, path }: { client: ClientWithSecrets; path: string }) {
  const refresh = useRefresh()
  const toast = useToast()
  const [isAsking, setAsking] = useState(false)
  const change = useAction((status: 'ACTIVE' | 'DISABLED') => api.patch(path, { status }), {
    onDone: (_, status) => {
      setAsking(false)
      refresh('/operator/v1/clients')
      toast(status === 'ACTIVE' ? 'Enabled.' : 'Disabled.')
    },
    onError: (problem) => toast(problem.message, 'bad'),
  })
  if (client.status === 'DISABLED') {
    return (
      <Button disabled={change.isPending} onClick={() => change.mutate('ACTIVE')}>
        Enable
      </Button>
    )
  }
  return (
    <>
      <Button look="danger" onClick={() => setAsking(true)}>
        Disable
      </Button>
      {isAsking ? (
        <Confirm
          title={`Disable ${client.name}?`}
          action="Disable the client"
          isDanger
          isBusy={change.isPending}
          onConfirm={() => change.mutate('DISABLED')}
          onClose={() => setAsking(false)}
        >
          <p>
            It gets no token, and its tokens stop working within 5 seconds. Its callbacks are still
            delivered: disabling blocks the API, not the deliveries.
          </p>
        </Confirm>
      ) : null}
    </>
  )
}

const ACCOUNT_COLUMNS: readonly Column<Account>[] = [
  { head: 'Account', cell: ({ name }) => <span className="break">{name}</span> },
  { head: 'Account id', cell: ({ id }) => <Id value={id} /> },
  {
    head: '',
    name: 'See',
    cell: ({ id }) => (
      <span className="row">
        <Link to={`/endpoints?accountId=${id}`}>Endpoints</Link>
        <Link to={`/payments?accountId=${id}`}>Payments</Link>
      </span>
    ),
  },
]

function Accounts({ path, canAct }: { path: string; canAct: boolean }) {
  const refresh = useRefresh()
  const accounts = useRead<Page<Account>>(`${path}/accounts?size=100`)
  const add = useAction((name: string) => api.post<Account>(`${path}/accounts`, { name }), {
    onDone: () => refresh(`${path}/accounts`),
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    add.mutate(String(new FormData(form).get('name')).trim(), { onSuccess: () => form.reset() })
  }
  const problem = accounts.error ?? add.error
  return (
    <Panel title="Accounts" isFlush>
      {problem ? <Problem problem={problem} /> : null}
      {accounts.data && accounts.data.content.length > 0 ? (
        <Table
          label="Accounts"
          columns={ACCOUNT_COLUMNS}
          rows={accounts.data.content}
          keyOf={({ id }) => id}
        />
      ) : null}
      {accounts.data?.totalElements === 0 ? (
        <Empty title="No account yet">Payments belong to an account: create the first one.</Empty>
      ) : null}
      {accounts.data && accounts.data.totalPages > 1 ? (
        <p className="table-more muted">The first 100 of {accounts.data.totalElements}.</p>
      ) : null}
      {canAct ? (
        <form className="table-more is-form" onSubmit={submit}>
          <Field name="name" label="Name of a new account" maxLength={200} required />
          <Button type="submit" disabled={add.isPending}>
            Create account
          </Button>
        </form>
      ) : null}
    </Panel>
  )
}

function Secrets({
  client,
  path,
  canAct,
}: {
  client: ClientWithSecrets
  path: string
  canAct: boolean
}) {
  const refresh = useRefresh()
  const toast = useToast()
  const [issued, setIssued] = useState<string | null>(null)
  const [revoking, setRevoking] = useState<string | null>(null)
  const issue = useAction(() => api.post<{ clientSecret: string }>(`${path}/secrets`), {
    onDone: ({ clientSecret }) => {
      setIssued(clientSecret)
      refresh(path)
    },
    onError: (problem) => toast(problem.message, 'bad'),
  })
  const revoke = useAction((secretId: string) => api.delete(`${path}/secrets/${secretId}`), {
    onDone: () => {
      setRevoking(null)
      refresh(path)
      toast('Revoked.')
    },
    onError: (problem) => toast(problem.message, 'bad'),
  })
  const columns: Column<ClientWithSecrets['secrets'][number]>[] = [
    { head: 'Secret id', cell: ({ secretId }) => <Id value={secretId} isShort /> },
    { head: 'Issued', cell: ({ createdAt }) => <Time at={createdAt} /> },
  ]
  if (canAct) {
    columns.push({
      head: '',
      cell: ({ secretId }) => (
        <Button isSmall look="danger" onClick={() => setRevoking(secretId)}>
          Revoke
        </Button>
      ),
    })
  }
  return (
    <Panel
      title="Secrets"
      isFlush
      aside={
        canAct ? (
          <Button
            disabled={issue.isPending || client.secrets.length >= SECRETS_MAX}
            title={
              client.secrets.length >= SECRETS_MAX
                ? 'A client has two at most: revoke one first'
                : undefined
            }
            onClick={() => issue.mutate(undefined)}
          >
            Issue a secret
          </Button>
        ) : null
      }
    >
      {client.secrets.length > 0 ? (
        <Table
          label="Secrets"
          columns={columns}
          rows={client.secrets}
          keyOf={({ secretId }) => secretId}
        />
      ) : (
        <Empty title="No valid secret">The client cannot get a token until one is issued.</Empty>
      )}
      <p className="table-more muted">
        To rotate without downtime: issue a second secret, let the client switch to it, then revoke
        the first.
      </p>
      {issued === null ? null : (
        <Dialog title={`A new secret for ${client.name}`} onClose={() => {}}>
          <SecretOnce clientId={client.clientId} clientSecret={issued} accountId={null} />
          <div className="dialog-actions">
            <Button look="primary" onClick={() => setIssued(null)}>
              I have saved it
            </Button>
          </div>
        </Dialog>
      )}
      {revoking === null ? null : (
        <Confirm
          title="Revoke this secret?"
          action="Revoke the secret"
          isDanger
          isBusy={revoke.isPending}
          onConfirm={() => revoke.mutate(revoking)}
          onClose={() => setRevoking(null)}
        >
          <p>
            {client.secrets.length === 1
              ? 'It is the only one: the client gets no token until another one is issued.'
              : 'The other one stays valid.'}
          </p>
        </Confirm>
      )}
    </Panel>
  )
}
