// The secrets of a client: only that they exist, and the way to a new one, which is shown once.

import { useState } from 'react'
import { api } from '../../api/client.ts'
import { useAction, useRefresh } from '../../api/hooks.ts'
import type { ClientWithSecrets } from '../../api/types.ts'
import { Button } from '../../ui/basics/button.tsx'
import { Id } from '../../ui/basics/copy.tsx'
import { Empty } from '../../ui/basics/messages.tsx'
import { Panel } from '../../ui/basics/page.tsx'
import { useToast } from '../../ui/basics/toast.tsx'
import { Confirm } from '../../ui/forms/dialog.tsx'
import { type Column, Table } from '../../ui/lists/table.tsx'
import { Time } from '../../ui/times/time.tsx'
import { SecretOnce } from '../clients/secret-once.tsx'

const SECRETS_MAX = 2

export function Secrets({
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
        <SecretOnce
          title={`A new secret for ${client.name}`}
          clientId={client.clientId}
          clientSecret={issued}
          accountId={null}
          onClose={() => setIssued(null)}
        />
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
