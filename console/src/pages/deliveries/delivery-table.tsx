import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useSession } from '../../api/session.ts'
import type { Delivery } from '../../api/types.ts'
import { Address } from '../../ui/basics/address.tsx'
import { State } from '../../ui/basics/badge.tsx'
import { shortId } from '../../ui/basics/copy.tsx'
import { Link } from '../../ui/basics/link.tsx'
import { toOutcomeText } from '../../ui/basics/outcome.ts'
import { shortenMiddle } from '../../ui/basics/shorten.ts'
import { Amount } from '../../ui/lists/amount.tsx'
import { type Column, Table } from '../../ui/lists/table.tsx'
import { useKept } from '../../ui/lists/use-kept.ts'
import { NextAttempt } from '../../ui/times/next-attempt.tsx'
import { Time } from '../../ui/times/time.tsx'
import { type Filter, type Kind, toQuery } from './filter.ts'
import { describeEarlier, groupUpdates, type Updates } from './updates.ts'

const ID_CHARACTERS_MAX = 20

/** Those that can be left out. */
export function columnsOf(kind: Kind): readonly string[] {
  const own = ['State', 'Payment', 'Endpoint', 'Client', 'Attempts', 'Next', 'Created']
  return kind === 'operator' ? own : own.filter((head) => head !== 'Client')
}

/** The first cell's link covers its whole row; the links that narrow the filter lie above it. */
export function DeliveryTable({ items, filter }: { items: readonly Delivery[]; filter: Filter }) {
  const { kind } = useSession()
  const [{ hidden }] = useKept('/deliveries')
  const shown = useShown(items)
  const { rows, folds, earlier } = useFolds(items, filter)
  const narrow = (change: Partial<Filter>) => `/deliveries${toQuery({ ...filter, ...change })}`
  const columns: Column<Delivery>[] = [
    {
      head: 'Event',
      cell: (row) => (
        <span
          className={`nowrap${shown.has(row.id) ? '' : ' is-new'}${earlier.has(row.id) ? ' is-earlier' : ''}`}
        >
          <Link to={`/deliveries/${row.id}`} className="row-link" title={row.event}>
            {toShortEvent(row.event)} <span className="muted">#{row.sequence}</span>
          </Link>
          {folds.get(row.id)}
        </span>
      ),
    },
    { head: 'State', cell: (row) => <State of={row.state} /> },
    {
      head: 'Payment',
      cell: (row) => (
        <>
          <Link
            to={narrow({ paymentId: row.paymentId })}
            className="narrow nowrap"
            title={`Only payment ${row.externalId ?? row.paymentId}`}
          >
            {row.externalId === null
              ? shortId(row.paymentId)
              : shortenMiddle(row.externalId, ID_CHARACTERS_MAX)}
          </Link>{' '}
          {row.amount === null ? null : (
            <span className="amount muted">
              <Amount of={row.amount} />
            </span>
          )}
        </>
      ),
    },
    {
      head: 'Endpoint',
      cell: (row) => (
        <Link
          to={narrow({ endpointId: row.endpointId })}
          className="narrow"
          title={`Only ${row.endpointUrl}`}
        >
          <Address url={row.endpointUrl} />
        </Link>
      ),
    },
    { head: 'Attempts', cell: (row) => <Attempts of={row} /> },
    { head: 'Next', cell: (row) => <NextAttempt of={row} /> },
    { head: 'Created', cell: (row) => <Time at={row.createdAt} as="short" /> },
  ]
  if (kind === 'operator') {
    columns.splice(4, 0, {
      head: 'Client',
      cell: (row) => (
        <Link
          to={narrow({ clientId: row.clientId ?? '' })}
          className="narrow cut"
          title={`Only client ${row.clientName}`}
        >
          {row.clientName}
        </Link>
      ),
    })
  }
  return (
    <div className="delivery-rows">
      <Table
        label="Deliveries"
        columns={columns.filter(({ head }) => !hidden.includes(head))}
        rows={rows}
        keyOf={(row) => row.id}
      />
    </div>
  )
}

/** The rows that are in sight, and the button that folds or unfolds others, by the row that it stands in. */
function useFolds(items: readonly Delivery[], filter: Filter) {
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set())
  const folds = new Map<string, ReactNode>()
  const earlier = new Set<string>()
  // Who asked for one payment wants all of it.
  if (filter.paymentId !== '' || filter.externalId !== '') return { rows: items, folds, earlier }
  const toggle = (key: string) => {
    const next = new Set(unfolded)
    if (!next.delete(key)) next.add(key)
    setUnfolded(next)
  }
  const rows = groupUpdates(items).flatMap((group) => {
    if (group.earlier.length === 0) return [group.newest]
    const isOpen = unfolded.has(group.key)
    const onToggle = () => toggle(group.key)
    folds.set(group.newest.id, <Fold group={group} isOpen={isOpen} onToggle={onToggle} />)
    if (!isOpen) return [group.newest]
    for (const { id } of group.earlier) earlier.add(id)
    return [group.newest, ...group.earlier]
  })
  return { rows, folds, earlier }
}

function Fold({
  group,
  isOpen,
  onToggle,
}: {
  group: Updates<Delivery>
  isOpen: boolean
  onToggle(): void
}) {
  const text = describeEarlier(group)
  const { externalId, paymentId } = group.newest
  return (
    <button
      type="button"
      className="fold"
      aria-expanded={isOpen}
      aria-label={`${text}, updates of payment ${externalId ?? paymentId}`}
      onClick={onToggle}
    >
      <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span> {text}
    </button>
  )
}

/** Each event is one of a payment: `payment.paid` → paid. */
function toShortEvent(event: string): string {
  return event.replace(/^payment\./, '')
}

/** How many, and what the last of them got: `3, 503`. */
function Attempts({ of: { attempts, lastOutcome } }: { of: Delivery }) {
  if (lastOutcome === null)
    return <span className="muted">{attempts === 0 ? 'none' : attempts}</span>
  const outcome = toOutcomeText(lastOutcome).replace(/^answered /, '')
  return (
    <span title={`Attempts: ${attempts}; the last one: ${toOutcomeText(lastOutcome)}`}>
      {attempts}&nbsp;<span className="muted">·&nbsp;{outcome}</span>
    </span>
  )
}

/** What was there when the page was opened, or a moment ago: everything else has just appeared. */
function useShown(items: readonly Delivery[]): ReadonlySet<string> {
  const shown = useRef<ReadonlySet<string>>(new Set(items.map(({ id }) => id)))
  const before = shown.current
  useEffect(() => {
    const timer = setTimeout(() => {
      shown.current = new Set(items.map(({ id }) => id))
    }, 1_500)
    return () => clearTimeout(timer)
  }, [items])
  return before
}
