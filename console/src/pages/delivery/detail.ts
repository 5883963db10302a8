// What an attempt came to, in words.

import type { DeliveryAttempt, DeliveryDetail } from '../../api/types.ts'
import { toOutcomeHead } from '../../ui/basics/outcome.ts'

/** What an attempt led to; only the last one of an ended delivery led to nothing more. */
export type Sequel = 'retried' | 'retry scheduled' | 'gave up' | 'not retried'

/** By the state of the delivery, for its newest attempt. */
export const SEQUELS: Readonly<Record<DeliveryDetail['state'], Sequel>> = {
  PENDING: 'retry scheduled',
  EXHAUSTED: 'gave up',
  DELIVERED: 'not retried',
  SUPERSEDED: 'not retried',
  CANCELLED: 'not retried',
}

/** Why an attempt was, or was not, the last one. Only 200 counts, which surprises people. */
export function describeAnswer(
  { status, error }: Pick<DeliveryAttempt, 'status' | 'error'>,
  sequel: Sequel,
): string {
  if (status === 200) return 'Accepted'
  if (status === null) return `${toOutcomeHead(error)}: ${sequel}`
  if (status < 300) return `${status} is not 200: ${sequel}`
  if (status < 400) return `Redirects are not followed: ${sequel}`
  return `Failed: ${sequel}`
}
