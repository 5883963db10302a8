// A payment as JSON on its way in. An amount is text until here, and a JSON number with the same digits from
// here on.

import { toExactJson } from './money.ts'

const DECIMAL = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

/** Text that is no decimal number goes as it is: the service says what is wrong with it, as of every field. */
export function toPaymentJson(payment: object): string {
  const { amount } = (payment as { amount?: { amount?: unknown } | null }).amount ?? {}
  if (typeof amount === 'number') {
    // 0.1 + 0.2 is 0.30000000000000004, and 9007199254740993 is another number already.
    throw new TypeError(
      "amount.amount is a number, which may have lost digits already: give text, such as '1250.50'.",
    )
  }
  return typeof amount === 'string' && DECIMAL.test(amount)
    ? toExactJson(payment)
    : JSON.stringify(payment)
}
