// An event as lists show it, as JSON text: its payment is stored as text and sent unparsed, because parsing
// would lose the digits of its amount.

import { EVENT_KINDS } from '../../core/payments/payment.ts'
import type { EventView } from '../../operations/payments/view-payments.ts'
import { Instant, Uuid } from '../basics/scalars.ts'
import { Type } from '../basics/type.ts'
import { PaymentSchema } from '../schemas/payment-schema.ts'

export const EventKindSchema = Type.Enum([...EVENT_KINDS])

export const EventItem = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'The `webhook-id` of its callbacks.' }),
    event: EventKindSchema,
    sequence: Type.Integer({ description: 'Its number within its payment: 1, 2, 3 …' }),
    paymentId: Uuid,
    createdAt: Instant,
    payment: PaymentSchema,
  },
  { description: 'One accepted change of one payment, as the feed tells it.' },
)

export function eventText(event: EventView): string {
  const { id, kind, sequence, paymentId, createdAt } = event
  const head = JSON.stringify({ id, event: kind, sequence, paymentId, createdAt })
  return `${head.slice(0, -1)},"payment":${event.text}}`
}
