// The headers of a payment's first callback, signed as Paybell signs them: what every sender of the benchmark carries.

import { callbackHeaders, type SigningKeys } from '../../server/core/signatures/callback-headers.ts'

export function firstHeaders(
  eventId: string,
  keys: SigningKeys,
  body: readonly Buffer[],
): string[] {
  const head = {
    eventId,
    kind: 'payment.created',
    sequence: 1,
    attempt: 1,
    atMs: Date.now(),
    mark: null,
    traceparent: `00-${eventId.replaceAll('-', '')}-0000000000000001-01`,
    extraHeader: null,
  } as const
  return callbackHeaders(head, keys, body)
}
