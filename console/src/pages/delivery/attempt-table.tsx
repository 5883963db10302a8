// Every attempt, the newest first, with its answer, shown as text whatever its content type.

import { useState } from 'react'
import type { DeliveryAttempt, DeliveryDetail } from '../../api/types.ts'
import { Badge } from '../../ui/basics/badge.tsx'
import { Button } from '../../ui/basics/button.tsx'
import { Empty } from '../../ui/basics/messages.tsx'
import { Panel } from '../../ui/basics/page.tsx'
import { toMsText } from '../../ui/lists/numbers.ts'
import { type Column, Table } from '../../ui/lists/table.tsx'
import { Time } from '../../ui/times/time.tsx'
import { describeAnswer, SEQUELS } from './detail.ts'

const SHOWN_AT_FIRST = 20

export function AttemptTable({ delivery }: { delivery: DeliveryDetail }) {
  const [isWhole, setWhole] = useState(false)
  const newest = delivery.attemptLog.toReversed()
  const shown = isWhole ? newest : newest.slice(0, SHOWN_AT_FIRST)
  const columns: Column<DeliveryAttempt>[] = [
    {
      head: 'Attempt',
      cell: (row) => (
        <>
          {row.attempt} <span className="muted">·</span> <Time at={row.at} as="short" />
          <div className="muted">after {toMsText(row.durationMs)}</div>
        </>
      ),
    },
    {
      head: 'Answer',
      cell: (row) => (
        <>
          <Badge tone={row.status === 200 ? 'good' : 'bad'}>
            {row.status ?? row.error ?? 'no answer'}
          </Badge>
          <div>{describeAnswer(row, row === newest[0] ? SEQUELS[delivery.state] : 'retried')}</div>
        </>
      ),
    },
    { head: 'Body', cell: (row) => <Excerpt of={row} /> },
  ]
  return (
    <Panel title="Response" isFlush>
      {newest.length === 0 ? (
        <Empty title="Not attempted" />
      ) : (
        <Table
          label="Attempts"
          columns={columns}
          rows={shown}
          keyOf={(row) => `${row.attempt}-${row.at}`}
        />
      )}
      {shown.length < newest.length ? (
        <div className="table-more">
          <Button isSmall onClick={() => setWhole(true)}>
            Show all {newest.length}
          </Button>
        </div>
      ) : null}
    </Panel>
  )
}

function Excerpt({ of }: { of: DeliveryAttempt }) {
  if (of.status === null) return <span className="muted">no answer</span>
  if (of.excerpt === null) {
    return <span className="muted">none</span>
  }
  if (of.excerpt === '') return <span className="muted">empty</span>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <pre className="excerpt" tabIndex={0}>
      {of.excerpt}
    </pre>
  )
}
