// The accounts of a client, and the form that adds one.

import type { FormEvent } from 'react'
import { api } from '../../api/client.ts'
import { useAction, useRead, useRefresh } from '../../api/hooks.ts'
import type { Account, Page } from '../../api/types.ts'
import { Button } from '../../ui/basics/button.tsx'
import { Id } from '../../ui/basics/copy.tsx'
import { Link } from '../../ui/basics/link.tsx'
import { Empty, Problem } from '../../ui/basics/messages.tsx'
import { Panel } from '../../ui/basics/page.tsx'
import { Field } from '../../ui/forms/field.tsx'
import { type Column, Table } from '../../ui/lists/table.tsx'

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

export function Accounts({ path, canAct }: { path: string; canAct: boolean }) {
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
