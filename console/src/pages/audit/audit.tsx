// Who did what, and when. Nothing here can be changed, by anybody.

import { useCursorList } from '../../api/hooks.ts'
import type { AuditRow } from '../../api/records.ts'
import { toQuery, useFilters } from '../../router.ts'
import { Button } from '../../ui/button.tsx'
import { Id, shortId } from '../../ui/copy.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { toInputValue, toInstant } from '../../ui/instant.ts'
import { Link } from '../../ui/link.tsx'
import { Empty, Loading, Problem } from '../../ui/messages.tsx'
import { PageHead, Panel } from '../../ui/page.tsx'
import { type Column, More, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'

const FILTERS = ['actor', 'action', 'object', 'from', 'to'] as const

const ACTIONS = [
  'client.create',
  'client.disable',
  'client.enable',
  'secret.create',
  'secret.revoke',
  'account.create',
  'key.create',
  'key.revoke',
  'session.create',
  'session.end',
  'payment.put',
  'payment.batch',
  'endpoint.pause',
  'endpoint.resume',
  'delivery.replay',
  'delivery.cancel',
  'deliveries.replay',
  'deliveries.cancel',
] as const

/** Objects that have a page. */
const PAGES_OF: Readonly<Record<string, string>> = {
  client: '/clients/',
  payment: '/payments/',
  endpoint: '/endpoints/',
  delivery: '/deliveries/',
  job: '/deliveries?job=',
}

const COLUMNS: readonly Column<AuditRow>[] = [
  { head: 'At', cell: ({ at }) => <Time at={at} /> },
  { head: 'Actor', cell: ({ actor }) => <span className="break">{actor}</span> },
  { head: 'Action', cell: ({ action }) => <code>{action}</code> },
  { head: 'Object', cell: ({ object }) => <ObjectLink object={object} /> },
  { head: 'Request', cell: ({ requestId }) => <Id value={requestId} isShort /> },
]

export default function Audit() {
  const { query, setFilters } = useFilters()
  const given = Object.fromEntries(FILTERS.map((name) => [name, query.get(name)]))
  const list = useCursorList<AuditRow>(`/operator/v1/audit${toQuery(given)}`, { everyMs: 15_000 })
  const isFiltered = FILTERS.some((name) => query.has(name))
  const value = (name: string) => query.get(name) ?? ''
  return (
    <>
      <PageHead title="Audit" />
      <form
        className="filters is-roomy"
        aria-label="Audit"
        onSubmit={(event) => {
          event.preventDefault()
          const form = new FormData(event.currentTarget)
          setFilters({ actor: String(form.get('actor')), object: String(form.get('object')) })
        }}
      >
        <Field
          key={`actor ${value('actor')}`}
          name="actor"
          label="Actor"
          placeholder="name of a key"
          defaultValue={value('actor')}
          onBlur={(event) => setFilters({ actor: event.target.value.trim() })}
        />
        <Select
          label="Action"
          value={value('action')}
          options={[['', 'Any'], ...ACTIONS]}
          onChange={(event) => setFilters({ action: event.target.value })}
        />
        <Field
          key={`object ${value('object')}`}
          name="object"
          label="Object"
          placeholder="client:01a1dd3c-…"
          defaultValue={value('object')}
          onBlur={(event) => setFilters({ object: event.target.value.trim() })}
        />
        <Field
          label="From"
          type="datetime-local"
          value={toInputValue(value('from'))}
          onChange={(event) => setFilters({ from: toInstant(event.target.value) })}
        />
        <Field
          label="and before"
          type="datetime-local"
          value={toInputValue(value('to'))}
          onChange={(event) => setFilters({ to: toInstant(event.target.value) })}
        />
        {isFiltered ? (
          <div>
            <Button
              onClick={() => setFilters(Object.fromEntries(FILTERS.map((name) => [name, null])))}
            >
              Clear the filters
            </Button>
          </div>
        ) : null}
      </form>
      <Panel title="The newest first" isFlush>
        {list.error ? <Problem problem={list.error} /> : null}
        {list.isLoading ? <Loading /> : null}
        {list.items.length > 0 ? (
          <Table label="Audit" columns={COLUMNS} rows={list.items} keyOf={({ id }) => id} />
        ) : null}
        {!list.isLoading && !list.error && list.items.length === 0 && !list.hasMore ? (
          <NoRows isFiltered={isFiltered} />
        ) : null}
        {list.items.length > 0 || list.hasMore ? (
          <More
            hasMore={list.hasMore}
            isLoading={list.isLoadingMore}
            onMore={list.loadMore}
            shown={list.items.length}
          />
        ) : null}
      </Panel>
    </>
  )
}

function ObjectLink({ object }: { object: string }) {
  const [kind = '', id = ''] = object.split(':')
  const page = PAGES_OF[kind]
  if (id === '') return <span className="break">{object}</span>
  const shown = (
    <>
      {kind} <span className="id">{shortId(id)}</span>
    </>
  )
  if (page === undefined) return <span title={object}>{shown}</span>
  return (
    <Link to={page + id} title={object}>
      {shown}
    </Link>
  )
}

function NoRows({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Empty title="Nobody did that" />
  return (
    <Empty
      title="Nothing was done yet"
      curl={`curl -s "${window.location.origin}/operator/v1/audit?limit=50" -H "Authorization: Bearer $OPERATOR_KEY"`}
    >
      Every call of an operator that changed something leaves one row here.
    </Empty>
  )
}
