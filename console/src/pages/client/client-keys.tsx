// The public keys with which a client proves who it is, and whether its secrets still count beside them.

import { type FormEvent, useState } from 'react'
import { api } from '../../api/client.ts'
import { useAction, useRead, useRefresh } from '../../api/hooks.ts'
import type { ClientKey, ClientWithSecrets, Page } from '../../api/types.ts'
import { Button } from '../../ui/basics/button.tsx'
import { Empty, Problem } from '../../ui/basics/messages.tsx'
import { Panel } from '../../ui/basics/page.tsx'
import { useToast } from '../../ui/basics/toast.tsx'
import { Confirm } from '../../ui/forms/dialog.tsx'
import { Field } from '../../ui/forms/field.tsx'
import { type Column, Table } from '../../ui/lists/table.tsx'
import { Time } from '../../ui/times/time.tsx'

export function ClientKeys({
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
  const [removing, setRemoving] = useState<string | null>(null)
  const keys = useRead<Page<ClientKey>>(`${path}/keys`)
  const onError = (problem: { message: string }) => toast(problem.message, 'bad')
  const add = useAction((jwk: unknown) => api.post<ClientKey>(`${path}/keys`, { jwk }), {
    onDone: () => refresh(path),
  })
  const remove = useAction((kid: string) => api.delete(`${path}/keys/${encodeURIComponent(kid)}`), {
    onDone: () => {
      setRemoving(null)
      refresh(path)
      toast('Deleted.')
    },
    onError,
  })
  const choose = useAction(
    (credentials: ClientWithSecrets['credentials']) => api.patch(path, { credentials }),
    { onDone: () => refresh(path), onError },
  )
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    try {
      const jwk: unknown = JSON.parse(String(new FormData(form).get('jwk')))
      add.mutate(jwk, { onSuccess: () => form.reset() })
    } catch {
      toast('This is not JSON. Paste the public key as a JWK.', 'bad')
    }
  }
  const columns: Column<ClientKey>[] = [
    { head: 'Key id', cell: ({ kid }) => <code className="break">{kid}</code> },
    { head: 'Algorithm', cell: ({ alg }) => alg },
    { head: 'Added', cell: ({ createdAt }) => <Time at={createdAt} /> },
  ]
  if (canAct) {
    columns.push({
      head: '',
      cell: ({ kid }) => (
        <Button isSmall look="danger" onClick={() => setRemoving(kid)}>
          Delete
        </Button>
      ),
    })
  }
  const problem = keys.error ?? add.error
  const isKeysOnly = client.credentials === 'keys'
  return (
    <Panel
      title="Public keys"
      isFlush
      aside={
        canAct ? (
          <Button
            disabled={choose.isPending}
            onClick={() => choose.mutate(isKeysOnly ? 'any' : 'keys')}
          >
            {isKeysOnly ? 'Accept secrets again' : 'Accept keys only'}
          </Button>
        ) : null
      }
    >
      {problem ? <Problem problem={problem} /> : null}
      {keys.data && keys.data.content.length > 0 ? (
        <Table label="Keys" columns={columns} rows={keys.data.content} keyOf={({ kid }) => kid} />
      ) : null}
      {keys.data?.totalElements === 0 ? (
        <Empty title="No key">
          {isKeysOnly
            ? 'Its secrets are refused: the client gets no token until you add a key or accept secrets again.'
            : 'The client gets its tokens with a secret.'}
        </Empty>
      ) : null}
      <p className="table-more muted">
        {isKeysOnly
          ? 'Secrets get no token: the client signs an assertion with its private key (private_key_jwt).'
          : 'With a key the client can sign an assertion (private_key_jwt) instead of sending a secret.'}
      </p>
      {canAct ? (
        <form className="table-more is-form" onSubmit={submit}>
          <Field name="jwk" label="Public key, as a JWK" maxLength={4000} required />
          <Button type="submit" disabled={add.isPending}>
            Add key
          </Button>
        </form>
      ) : null}
      {removing === null ? null : (
        <Confirm
          title="Delete this key?"
          action="Delete the key"
          isDanger
          isBusy={remove.isPending}
          onConfirm={() => remove.mutate(removing)}
          onClose={() => setRemoving(null)}
        >
          <p>
            The client gets no token with it any more. Tokens it has stay valid until they expire.
          </p>
          {isKeysOnly && keys.data?.totalElements === 1 ? (
            <p>It is the last one, and secrets are refused: the client will get no token at all.</p>
          ) : null}
        </Confirm>
      )}
    </Panel>
  )
}
