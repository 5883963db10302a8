// What runs, and the settings as the process that answered resolved them. Of a secret one learns that it is set.

import { useState } from 'react'
import { useShowsAll } from '../../api/cells.ts'
import { useRead } from '../../api/hooks.ts'
import { useSession } from '../../api/session.ts'
import type { Setting } from '../../api/types.ts'
import { Badge } from '../../ui/basics/badge.tsx'
import { Loading, Problem } from '../../ui/basics/messages.tsx'
import { PageHead, Panel } from '../../ui/basics/page.tsx'
import { Field } from '../../ui/forms/field.tsx'
import { type Column, Table } from '../../ui/lists/table.tsx'
import { Processes } from './processes.tsx'

const COLUMNS: readonly Column<Setting>[] = [
  { head: 'Setting', cell: ({ name }) => <code>{name}</code> },
  { head: 'Value', cell: (setting) => <Value of={setting} /> },
  {
    head: 'Source',
    cell: ({ source }) => (
      <span className={source === 'environment' || source === 'file' ? '' : 'muted'}>
        {source ?? '–'}
      </span>
    ),
  },
  { head: 'Description', cell: ({ about }) => <span className="muted">{about}</span> },
]

export default function Settings() {
  const { data, error } = useRead<{ settings: readonly Setting[] }>('/operator/v1/settings')
  const showsAll = useShowsAll()
  const [search, setSearch] = useState('')
  const wanted = search.trim().toLowerCase()
  const shown = data?.settings.filter(({ name, about }) =>
    `${name} ${about}`.toLowerCase().includes(wanted),
  )
  return (
    <>
      <PageHead title="Settings" />
      {showsAll === false ? <Processes /> : null}
      {error ? <Problem problem={error} /> : null}
      {shown ? (
        <Panel
          title="Resolved at startup"
          isFlush
          aside={
            <Field
              label="Find"
              type="search"
              value={search}
              onChange={(event) => setSearch(event.target.value)}
            />
          }
        >
          <Table
            label="Settings"
            columns={COLUMNS}
            rows={shown}
            keyOf={(setting) => setting.name}
          />
        </Panel>
      ) : (
        !error && <Loading />
      )}
    </>
  )
}

/** Settings that the sandbox provides when they are not set. */
const SANDBOX_OWN = ['DATABASE_URL', 'PAYBELL_MASTER_KEY', 'PAYBELL_OPERATOR_KEY']

function Value({ of: { name, value, isSecret, isSet } }: { of: Setting }) {
  const { mode } = useSession()
  if (!isSet) {
    const isOwn = mode === 'sandbox' && SANDBOX_OWN.includes(name)
    return <span className="muted">{isOwn ? 'the sandbox’s own' : 'not set'}</span>
  }
  if (isSecret) return <Badge tone="good">set, not shown</Badge>
  return <span className="mono">{value}</span>
}
