// One hour of a statement: its counts, what was not delivered, and a way to have the exhausted ones sent again.

import { useState } from 'react'
import { api } from '../../../api/client.ts'
import { useAction, useRead, useRefresh } from '../../../api/hooks.ts'
import { useCan, useSession } from '../../../api/session.ts'
import type { CursorPage, Delivery, StatementHour } from '../../../api/types.ts'
import { Button } from '../../../ui/basics/button.tsx'
import { Problem } from '../../../ui/basics/messages.tsx'
import { toOutcomeText } from '../../../ui/basics/outcome.ts'
import { Facts } from '../../../ui/basics/page.tsx'
import { useToast } from '../../../ui/basics/toast.tsx'
import { Confirm } from '../../../ui/forms/dialog.tsx'
import { toCountText } from '../../../ui/lists/numbers.ts'
import { type Column, Table } from '../../../ui/lists/table.tsx'
import { Time } from '../../../ui/times/time.tsx'
import { WHICH_DELIVERY } from '../delivery-columns.tsx'

const HOUR_MS = 3_600_000

const COLUMNS: readonly Column<Delivery>[] = [
  ...WHICH_DELIVERY,
  {
    head: 'Last answer',
    cell: ({ lastOutcome }) => (lastOutcome === null ? '–' : toOutcomeText(lastOutcome)),
  },
  { head: 'Created', cell: ({ createdAt }) => <Time at={createdAt} as="short" /> },
]

export function StatementHourDetail({
  hour,
  endpointId,
  path,
  onRecovered,
}: {
  hour: StatementHour
  endpointId: string
  path: string | null
  onRecovered(): void
}) {
  const base = useSession().kind === 'operator' ? '/operator/v1' : '/v1'
  const to = new Date(Date.parse(hour.from) + HOUR_MS).toISOString()
  const lost = useRead<CursorPage<Delivery>>(
    `${base}/deliveries?endpointId=${endpointId}&from=${hour.from}&to=${to}&state=EXHAUSTED,PENDING,CANCELLED,SUPERSEDED&limit=50`,
  )
  const { owed, delivered, superseded, exhausted, cancelled, pending, idsDigest } = hour
  const count = (value: number) => toCountText(value)
  return (
    <section className="statement-hour" aria-label={`Hour ${hour.from}`}>
      <h3>{toHourText(hour.from, to)}</h3>
      <Facts
        of={[
          ['Owed', count(owed)],
          ['Delivered', count(delivered)],
          ['Exhausted', count(exhausted)],
          ['Pending', count(pending)],
          ['Superseded, cancelled', `${count(superseded)}, ${count(cancelled)}`],
          ['Final', hour.isFinal ? 'yes' : 'not yet'],
          [
            'Digest of the delivered ids',
            <code key="digest" className="break">
              {idsDigest}
            </code>,
          ],
        ]}
      />
      {lost.error ? <Problem problem={lost.error} /> : null}
      {lost.data && lost.data.items.length > 0 ? (
        <Table
          label="Not delivered in this hour"
          columns={COLUMNS}
          rows={lost.data.items}
          keyOf={({ id }) => id}
        />
      ) : null}
      {exhausted > 0 ? (
        <RecoverHour
          period={{ since: hour.from, until: to }}
          count={exhausted}
          endpointId={endpointId}
          path={path}
          onRecovered={onRecovered}
        />
      ) : null}
    </section>
  )
}

/** In UTC, as the calendar and the signed statement: `2026-11-16, 04:00 to 05:00 UTC`. */
function toHourText(from: string, to: string): string {
  return `${from.slice(0, 10)}, ${from.slice(11, 16)} to ${to.slice(11, 16)} UTC`
}

interface Period {
  since: string
  until: string
}

function RecoverHour({
  period,
  count,
  endpointId,
  path,
  onRecovered,
}: {
  period: Period
  count: number
  endpointId: string
  path: string | null
  onRecovered(): void
}) {
  const canAct = useCan('admin')
  const refresh = useRefresh()
  const toast = useToast()
  const [isAsking, setAsking] = useState(false)
  const recover = useAction<Period, { replayed: number }>(
    ({ since, until }) =>
      path === null
        ? api.post('/operator/v1/deliveries/replay', {
            filter: { endpointId, from: since, to: until, state: 'EXHAUSTED' },
          })
        : api.post(`${path}/recover`, { since, until }),
    {
      onDone: ({ replayed }) => {
        setAsking(false)
        refresh('/operator/v1/', '/v1/deliveries', '/v1/webhooks')
        toast(`${toCountText(replayed)} queued to be sent again.`)
        onRecovered()
      },
    },
  )
  if (!canAct) return null
  const action = `Send ${toCountText(count)} again`
  return (
    <>
      <Button look="primary" onClick={() => setAsking(true)}>
        {action}
      </Button>
      {isAsking ? (
        <Confirm
          title={`Send the exhausted deliveries of this hour again?`}
          action={action}
          isBusy={recover.isPending}
          onConfirm={() => recover.mutate(period)}
          onClose={() => setAsking(false)}
        >
          <p>
            With the same bytes, the same <code>webhook-id</code> and a new run of 7 days.
          </p>
          {recover.error ? <Problem problem={recover.error} /> : null}
        </Confirm>
      ) : null}
    </>
  )
}
