// Who did what, and when. No role can change anything here.

import { useSession } from '../../api/session.ts'
import type { AuditItem } from '../../api/types.ts'
import { useFilters } from '../../router.ts'
import { Id, shortId } from '../../ui/basics/copy.tsx'
import { Link } from '../../ui/basics/link.tsx'
import { Empty } from '../../ui/basics/messages.tsx'
import { PageHead } from '../../ui/basics/page.tsx'
import { ChosenFilter, FilteredList, TypedFilter } from '../../ui/lists/filtered-list.tsx'
import type { Column } from '../../ui/lists/table.tsx'
import { Time } from '../../ui/times/time.tsx'
import { ACTIONS } from './actions.ts'
import { Changes } from './changes.tsx'
import { Seal } from './seal.tsx'

const FILTERS = ['actor', 'action', 'object', 'from', 'to', 'paymentWrites'] as const

/** Objects that have a page. */
const PAGES_OF: Readonly<Record<string, string>> = {
  client: '/clients/',
  payment: '/payments/',
  endpoint: '/endpoints/',
  delivery: '/deliveries/',
  job: '/jobs/',
}

const COLUMNS: readonly Column<AuditItem>[] = [
  {
    head: 'Time',
    cell: ({ at, sealed }) => (
      <>
        <Time at={at} /> {sealed ? null : <span className="muted">not sealed</span>}
      </>
    ),
  },
  { head: 'Actor', cell: ({ actor }) => <span className="break">{actor}</span> },
  { head: 'Action', cell: ({ action }) => <code className="nowrap">{action}</code> },
  { head: 'Object', cell: ({ object }) => <ObjectLink object={object} /> },
  { head: 'Changes', cell: ({ changes = [] }) => <Changes of={changes} /> },
  { head: 'Request', cell: ({ requestId }) => <Id value={requestId} isShort /> },
]

export default function Audit() {
  const { query, setFilters } = useFilters()
  const wantsPayments = hasPaymentWrites(query)
  // An auditor's reads are audited: the page does not read by itself.
  const isAuditor = useSession().role === 'auditor'
  return (
    <>
      <PageHead title="Audit" />
      <Seal />
      <FilteredList
        label="Audit"
        rows="entries"
        path="/operator/v1/audit"
        page="/audit"
        everyMs={isAuditor ? 0 : 15_000}
        filters={FILTERS}
        always={{ paymentWrites: String(wantsPayments) }}
        controls={
          <>
            <TypedFilter name="actor" label="Actor" placeholder="name of a key" />
            <ChosenFilter name="action" label="Action" options={[['', 'Any'], ...ACTIONS]} />
            <TypedFilter name="object" label="Object" placeholder="client:01a1dd3c-…" />
            <ChosenFilter
              name="paymentWrites"
              label="Payment writes"
              value={wantsPayments ? 'true' : ''}
              options={[
                ['', 'Hidden'],
                ['true', 'Shown'],
              ]}
            />
          </>
        }
        fromLabel="From"
        onSubmit={(form) =>
          setFilters({ actor: String(form.get('actor')), object: String(form.get('object')) })
        }
        columns={COLUMNS}
        empty={(isFiltered) => <NoRows isFiltered={isFiltered} />}
      />
    </>
  )
}

/** Nearly all rows are payment writes: they are left out, unless they are asked for. */
function hasPaymentWrites(query: URLSearchParams): boolean {
  const isAbout = (name: string) => query.get(name)?.startsWith('payment') ?? false
  return query.get('paymentWrites') === 'true' || isAbout('action') || isAbout('object')
}

function ObjectLink({ object }: { object: string }) {
  const [kind = '', id = ''] = object.split(':')
  const page = PAGES_OF[kind]
  if (id === '') return <span className="break">{object}</span>
  const shown = (
    <span className="nowrap">
      {kind} <span className="id">{shortId(id)}</span>
    </span>
  )
  if (page === undefined) return <span title={object}>{shown}</span>
  return (
    <Link to={page + id} title={object}>
      {shown}
    </Link>
  )
}

function NoRows({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No action matches this filter" />
  return (
    <Empty
      title="No actions yet"
      curl={`curl -s "${window.location.origin}/operator/v1/audit?limit=50" -H "Authorization: Bearer $OPERATOR_KEY"`}
    >
      Every call of an operator that changes something adds one row here.
    </Empty>
  )
}
