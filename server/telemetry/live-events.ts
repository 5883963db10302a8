// The events of the live stream, as its readers get them.

import { type Static, Type } from 'typebox'
import { EVENT_KINDS } from '../core/payments/payment.ts'

const Uuid = Type.String({ format: 'uuid' })
const Instant = Type.String({ format: 'date-time' })

export const AcceptedEventSchema = Type.Object(
  {
    eventId: Uuid,
    event: Type.Enum([...EVENT_KINDS]),
    paymentId: Uuid,
    accountId: Uuid,
    sequence: Type.Integer(),
    deliveries: Type.Integer({ description: 'To so many endpoints.' }),
    at: Instant,
  },
  { description: 'A change of a payment was accepted.' },
)

export const AttemptedEventSchema = Type.Object(
  {
    deliveryId: Uuid,
    eventId: Uuid,
    endpointId: Uuid,
    attempt: Type.Integer(),
    outcome: Type.String(),
    status: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
    at: Instant,
  },
  { description: 'A delivery was attempted.' },
)

export type AcceptedEvent = Static<typeof AcceptedEventSchema>
export type AttemptedEvent = Static<typeof AttemptedEventSchema>
