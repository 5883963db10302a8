// The API has no list of a client's payments, but its deliveries name them: those of recent deliveries,
// and a box for the id of any other.

import { type FormEvent, useState } from 'react'
import { useRead } from '../../api/hooks.ts'
import type { CursorPage, Delivery } from '../../api/types.ts'
import { navigate } from '../../router.ts'
import { State } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Id, shortId } from '../../ui/copy.tsx'
import { Field } from '../../ui/field.tsx'
import { Link } from '../../ui/link.tsx'
import { Empty, Loading, Problem } from '../../ui/messages.tsx'
import { Panel } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'

const COLUMNS: readonly Column<Delivery>[] = [
  {
    head: 'Payment',
    cell: ({ paymentId }) => (
      <Link to={`/payments/${paymentId}`} className="id">
        {shortId(paymentId)}
      </Link>
    ),
  },
  { head: 'Last news', cell: ({ event }) => <code>{event}</code> },
  { head: 'Its delivery', cell: ({ state }) => <State of={state} /> },
  { head: 'Events', isNumber: true, cell: ({ sequence }) => sequence },
  { head: 'At', cell: ({ createdAt }) => <Time at={createdAt} as="short" /> },
  { head: 'Id', cell: ({ paymentId }) => <Id value={paymentId} isShort /> },
]

export function OwnPayments() {
  const { data, error, isPending } = useRead<CursorPage<Delivery>>('/v1/deliveries?limit=200', {
    everyMs: 10_000,
  })
  const newest = new Map<string, Delivery>()
  for (const delivery of data?.items ?? []) {
    if (!newest.has(delivery.paymentId)) newest.set(delivery.paymentId, delivery)
  }
  return (
    <>
      <FindPayment />
      <Panel title="Told of lately" isFlush>
        {error ? <Problem problem={error} /> : null}
        {isPending ? <Loading /> : null}
        {newest.size > 0 ? (
          <Table
            label="Payments that your endpoints were told of lately"
            columns={COLUMNS}
            rows={[...newest.values()]}
            keyOf={({ paymentId }) => paymentId}
          />
        ) : null}
        {data && newest.size === 0 ? (
          <Empty
            title="No news of a payment yet"
            curl={`curl -s "${window.location.origin}/v1/events?limit=50" -H "Authorization: Bearer $TOKEN"`}
          >
            Payments are shown here once one of your endpoints is owed news of them. All of them can
            be pulled from the event feed.
          </Empty>
        ) : null}
      </Panel>
    </>
  )
}

function FindPayment() {
  const [id, setId] = useState('')
  const open = (event: FormEvent) => {
    event.preventDefault()
    if (id.trim() !== '') navigate(`/payments/${encodeURIComponent(id.trim())}`)
  }
  return (
    <form className="filters" aria-label="Payments" onSubmit={open}>
      <Field label="Payment id" value={id} onChange={(event) => setId(event.target.value)} />
      <div>
        <Button type="submit" look="primary">
          Open
        </Button>
      </div>
    </form>
  )
}
