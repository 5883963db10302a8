// What arrived at the demo receiver, in its own words. Untrusted text is shown as text.

import type { SandboxReceiver } from '../../api/types.ts'
import { Badge } from '../../ui/basics/badge.tsx'
import { Empty } from '../../ui/basics/messages.tsx'
import { type Column, Table } from '../../ui/lists/table.tsx'
import { Time } from '../../ui/times/time.tsx'

type Received = SandboxReceiver['received'][number]

const SHOWN_MAX = 20

const COLUMNS: readonly Column<Received>[] = [
  { head: 'Time', cell: ({ at }) => <Time at={at} as="short" /> },
  {
    head: 'Event',
    cell: ({ headers }) => (
      <span className="nowrap">
        {headers['x-paybell-event']?.replace('payment.', '') ?? 'something else'}{' '}
        <span className="muted">#{headers['x-paybell-sequence'] ?? '–'}</span>
      </span>
    ),
  },
  { head: 'Attempt', isNumber: true, cell: ({ headers }) => headers['x-paybell-attempt'] ?? '–' },
  {
    head: 'Answered',
    isNumber: true,
    cell: ({ status }) => (
      <Badge tone={status === 200 ? 'good' : 'bad'} isPlain>
        {status}
      </Badge>
    ),
  },
  { head: 'Signature', cell: ({ signatureValid }) => <Signature isValid={signatureValid} /> },
]

export function ReceivedTable({ received }: { received: readonly Received[] }) {
  if (received.length === 0) return <Empty title="Nothing has arrived yet" />
  return (
    <Table
      label="What the receiver got"
      columns={COLUMNS}
      rows={received.slice(0, SHOWN_MAX)}
      keyOf={({ at, headers }) => `${at} ${headers['webhook-id']} ${headers['x-paybell-attempt']}`}
    />
  )
}

function Signature({ isValid }: { isValid: boolean | null }) {
  if (isValid === null) return <span className="muted">no key to check with</span>
  return <Badge tone={isValid ? 'good' : 'bad'}>{isValid ? 'valid' : 'not valid'}</Badge>
}
