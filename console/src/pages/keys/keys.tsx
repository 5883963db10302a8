// The keys of operators: who has one, with which role, when it was last used; a new one, and the end of one.

import { useState } from 'react'
import { api } from '../../api/client.ts'
import { useAction, useRead, useRefresh } from '../../api/hooks.ts'
import { useCan, useSession } from '../../api/session.ts'
import type { OperatorKey, Page } from '../../api/types.ts'
import { toQuery, useLocation } from '../../router.ts'
import { Badge } from '../../ui/basics/badge.tsx'
import { Button } from '../../ui/basics/button.tsx'
import { Link } from '../../ui/basics/link.tsx'
import { Empty, Loading, Problem } from '../../ui/basics/messages.tsx'
import { PageHead, Panel } from '../../ui/basics/page.tsx'
import { useToast } from '../../ui/basics/toast.tsx'
import { Confirm } from '../../ui/forms/dialog.tsx'
import { Pages } from '../../ui/lists/pages.tsx'
import { type Column, Table } from '../../ui/lists/table.tsx'
import { Time } from '../../ui/times/time.tsx'
import { NewKey } from './new-key.tsx'

const COLUMNS: readonly Column<OperatorKey>[] = [
  { head: 'Name', cell: ({ name }) => <span className="break">{name}</span> },
  { head: 'Role', cell: ({ role }) => role },
  {
    head: 'Status',
    cell: ({ revokedAt }) =>
      revokedAt === null ? <Badge tone="good">ACTIVE</Badge> : <Badge>REVOKED</Badge>,
  },
  { head: 'Last used', cell: ({ lastUsedAt }) => <LastUsed at={lastUsedAt} /> },
  { head: 'Created', cell: ({ createdAt }) => <Time at={createdAt} as="short" /> },
  { head: 'Revoked', cell: ({ revokedAt }) => <Time at={revokedAt} as="short" /> },
  {
    head: '',
    name: 'Audit',
    cell: ({ name }) => <Link to={`/audit${toQuery({ actor: name })}`}>Audit</Link>,
  },
]

export default function Keys() {
  const { query } = useLocation()
  const canAct = useCan('admin')
  const [isMaking, setMaking] = useState(false)
  const [revoking, setRevoking] = useState<OperatorKey | null>(null)
  const { data, error, isPending } = useRead<Page<OperatorKey>>(
    `/operator/v1/keys${toQuery({ page: query.get('page'), size: '50' })}`,
    { keepsLast: true, everyMs: 30_000 },
  )
  const revoke: Column<OperatorKey> = {
    head: '',
    cell: (key) =>
      key.revokedAt === null ? (
        <Button isSmall look="danger" onClick={() => setRevoking(key)}>
          Revoke
        </Button>
      ) : null,
  }
  return (
    <>
      <PageHead title="Operator keys">
        {canAct ? (
          <Button look="primary" onClick={() => setMaking(true)}>
            Create a key
          </Button>
        ) : null}
      </PageHead>
      <Panel title="All keys" isFlush>
        {error ? <Problem problem={error} /> : null}
        {isPending ? <Loading rows={4} /> : null}
        {data && data.content.length > 0 ? (
          <Table
            label="Operator keys"
            columns={canAct ? [...COLUMNS, revoke] : COLUMNS}
            rows={data.content}
            keyOf={({ id }) => id}
          />
        ) : null}
        {data && data.totalElements === 0 ? (
          <Empty title="No keys yet">
            Give every person and every program a key of its own: the audit names each by its key.
          </Empty>
        ) : null}
        {data && data.totalElements > 0 ? <Pages of={data} /> : null}
        <p className="table-more muted">
          <span>
            The key of <code>PAYBELL_OPERATOR_KEY</code> is not listed: it is a setting. The audit
            calls it “operator”.
          </span>
        </p>
      </Panel>
      {isMaking ? <NewKey onClose={() => setMaking(false)} /> : null}
      {revoking ? <Revoke of={revoking} onClose={() => setRevoking(null)} /> : null}
    </>
  )
}

function LastUsed({ at }: { at: string | null }) {
  return at === null ? <span className="muted">never</span> : <Time at={at} as="relative" />
}

function Revoke({ of: key, onClose }: { of: OperatorKey; onClose(): void }) {
  const { actor } = useSession()
  const refresh = useRefresh()
  const toast = useToast()
  const revoke = useAction<void, unknown>(() => api.delete(`/operator/v1/keys/${key.id}`), {
    onDone: () => {
      refresh('/operator/v1/keys')
      toast(`Revoked ${key.name}.`)
      onClose()
    },
    onError: (problem) => toast(problem.message, 'bad'),
  })
  return (
    <Confirm
      title={`Revoke ${key.name}?`}
      action="Revoke the key"
      isDanger
      isBusy={revoke.isPending}
      onConfirm={() => revoke.mutate()}
      onClose={onClose}
    >
      <p>
        It stops working within 5 seconds and cannot be restored. Sessions that were opened with it
        end.
        {key.name === actor ? ' This is the key that you are signed in with.' : ''}
      </p>
    </Confirm>
  )
}
