// What statements do for the planner's sake, each with what they would be without it. A test explains both:
// what no longer makes a difference can go.

import type { Statement } from './recorder.ts'

interface Needed {
  /** What is taken away. */
  trick: string
  statements: readonly string[]
  without(statement: Statement): Partial<Statement>
}

const changeText =
  (change: (text: string) => string) =>
  ({ text }: Statement): Partial<Statement> => ({ text: change(text) })

export const NEEDED: readonly Needed[] = [
  {
    trick: 'byIndexOnly',
    statements: [
      'outcomes.recordAny',
      'unattempted.exhaustDeliveries',
      'unattempted.settleInactive',
      'cancellations.cancelDeliveries of one 2',
      'cancellations.cancelDeliveries of many',
    ],
    without: changeText((text) => text.replace(/= any\(array\[([\w.]+)\]\)/g, '= $1')),
  },
  {
    trick: 'filterOnly',
    statements: [
      'outcomes.recordAny',
      'deliveries.releaseDeliveriesOf',
      'endpoint-lists.readTroubled',
      'endpoint-health.readHealth',
      'notices.readEndpointsToTell',
    ],
    without: changeText((text) => text.replace(/ \+ 0 =/g, ' =')),
  },
  {
    trick: 'enable_seqscan = off',
    statements: ['outcomes.recordDelivered', 'deliveries.readDue', 'deliveries.readOldest'],
    without: () => ({ isLifted: true }),
  },
  {
    trick: 'offset 0',
    statements: ['accept.readListening'],
    without: changeText((text) => text.replace(/\s+offset 0\)/, ')')),
  },
  {
    trick: 'a lateral select with a limit, where exists would do',
    statements: ['accept.markElders'],
    without: changeText((text) =>
      text.replace(
        /cross join lateral \(\s*select (from pending_deliveries[^)]*?) limit 1\) as elder/,
        'where exists (select $1)',
      ),
    ),
  },
  {
    trick: 'a lateral select with a limit, where a join would do',
    statements: ['parked.readParkedLanes'],
    without: changeText((text) =>
      text.replace(
        /cross join lateral \(\s*-- One look[^\n]*\n\s*select from endpoints e\s*where([^)]*) limit 1\) as active/,
        'join endpoints e on $1',
      ),
    ),
  },
  {
    trick: 'coalesce',
    statements: ['unattempted.postponeDeliveries'],
    without: changeText((text) => text.replace(/coalesce\((p\.next_attempt_at), [^)]*\)/, '$1')),
  },
]

/** What keeps statements from reading what has piled up: without it, the rules for all of them have to see that. */
export const BOUNDED: readonly Needed[] = [
  {
    trick: 'its limit',
    statements: ['deliveries.readDue', 'feed.readStretch', 'payment-deliveries.readNewestEvents'],
    // What was given for it stays a parameter.
    without: changeText((text) =>
      text.replace(/(order by [^()]*) limit (\$\d)\b/, 'and $2::bigint > 0 $1'),
    ),
  },
  {
    trick: 'a limit for one client',
    statements: ['payment-lists.readPaymentSlice of a client'],
    without: changeText((text) => text.replace('limit $1) as d', ') as d')),
  },
  {
    trick: 'the newest of each client alone',
    statements: ['payment-lists.readPaymentSlice of all'],
    without: changeText((text) => text.replace('limit 1) as p', ') as p')),
  },
  {
    trick: 'what the newest of all cannot be older than',
    statements: ['payment-lists.readPaymentSlice of all'],
    without: changeText((text) => text.replace(' and p.accepted_at >= owner.floor', '')),
  },
  {
    trick: 'a column as the index has it',
    statements: [
      'audit-table.listAudit by action',
      'audit-table.listAudit by actor',
      'audit-table.listAudit by object',
      'payment-deliveries.readNewestEvents',
    ],
    without: changeText((text) =>
      text.replace(/(action|actor|object|e\.payment_id) = ([\w.$]+)/, 'lower($1::text) = $2::text'),
    ),
  },
  {
    trick: 'a bound of time',
    statements: ['endpoint-health.readHealth'],
    without: changeText((text) => text.replace('hour > $3', '$3::timestamptz is not null')),
  },
  {
    trick: 'a position that leads through the index',
    statements: ['feed.readStretch'],
    without: changeText((text) => text.replace('(place, sequence', '(place + 0, sequence')),
  },
  {
    trick: 'the order of the index',
    statements: ['feed.readStretch'],
    without: changeText((text) => text.replace('order by events.place', 'order by place')),
  },
]

/** Named after the trick that is missing. */
export function withoutTricks<S extends Statement>(
  statements: readonly S[],
  tricks: readonly Needed[],
): readonly S[] {
  return tricks.flatMap((needed) =>
    needed.statements.map((name) => {
      const statement = statements.find((found) => found.name === name)
      if (statement === undefined) throw new Error(`there is no statement ${name}`)
      const changes = needed.without(statement)
      if (changes.text === statement.text) throw new Error(`${name} has no ${needed.trick}`)
      return { ...statement, ...changes, name: `${name} without ${needed.trick}` }
    }),
  )
}
