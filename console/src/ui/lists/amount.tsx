// An amount as people read it, and exactly as it was written on hover.

import type { Payment } from '../../api/types.ts'
import { toAmountText, toReadableAmount } from './numbers.ts'

export function Amount({ of }: { of: Payment['amount'] }) {
  return (
    <span className="nowrap" title={toAmountText(of)}>
      {toReadableAmount(of)}
    </span>
  )
}
