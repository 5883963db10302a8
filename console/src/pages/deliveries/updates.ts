// The updates of one payment that follow each other in a list fill it with rows that say the same: those behind the
// newest one are folded under it. Only what is in the list is looked at.

import type { Delivery } from '../../api/types.ts'

export type Listed = Pick<Delivery, 'id' | 'paymentId' | 'endpointId' | 'state'>

export interface Updates<T> {
  /** The same while newer ones arrive. */
  key: string
  newest: T
  /** The newer ones first. */
  earlier: readonly T[]
}

export function groupUpdates<T extends Listed>(items: readonly T[]): Updates<T>[] {
  const groups: (Updates<T> & { earlier: T[] })[] = []
  for (const item of items) {
    const key = `${item.paymentId} ${item.endpointId}`
    const last = groups.at(-1)
    if (last?.key === key) last.earlier.push(item)
    else groups.push({ key, newest: item, earlier: [] })
  }
  return groups
}

/** What is folded, and where it stands otherwise than the newest: `3 earlier: 1 EXHAUSTED`. */
export function describeEarlier({ newest, earlier }: Updates<Listed>): string {
  const counts = new Map<string, number>()
  for (const { state } of earlier) {
    if (state !== newest.state) counts.set(state, (counts.get(state) ?? 0) + 1)
  }
  const others = [...counts].map(([state, count]) => `${count} ${state}`)
  return `${earlier.length} earlier${others.length === 0 ? '' : `: ${others.join(', ')}`}`
}
