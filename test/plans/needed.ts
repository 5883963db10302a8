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

/** Named after the trick that is missing. */
export function withoutTricks<S extends Statement>(statements: readonly S[]): readonly S[] {
  return NEEDED.flatMap((needed) =>
    needed.statements.map((name) => {
      const statement = statements.find((found) => found.name === name)
      if (statement === undefined) throw new Error(`there is no statement ${name}`)
      const changes = needed.without(statement)
      if (changes.text === statement.text) throw new Error(`${name} has no ${needed.trick}`)
      return { ...statement, ...changes, name: `${name} without ${needed.trick}` }
    }),
  )
}
