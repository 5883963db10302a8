// `from` and `to` of a query, whose formats have been checked: from the first on, and before the second.

import { invalidQuery } from './validation.ts'

export function readPeriod(query: { from?: string; to?: string }): {
  fromMs: number | null
  toMs: number | null
} {
  const fromMs = query.from === undefined ? null : Date.parse(query.from)
  const toMs = query.to === undefined ? null : Date.parse(query.to)
  if (fromMs !== null && toMs !== null && toMs <= fromMs) {
    throw invalidQuery([{ pointer: '/to', code: 'not-after-from', detail: 'Must lie after from.' }])
  }
  return { fromMs, toMs }
}
