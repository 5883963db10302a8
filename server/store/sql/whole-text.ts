// A condition for SQL: a payment's or an event's text has not been erased (core/payments/erasure.ts).

import { ERASED_MARK, MARK_OFFSET } from '../../core/payments/erasure.ts'

/** SQL counts from 1. */
export function isWhole(column: string): string {
  return `substr(${column}, ${MARK_OFFSET + 1}, ${ERASED_MARK.length}) <> '${ERASED_MARK}'`
}
