// The smallest pieces of schemas: an id, an instant, and what may be null instead.

import Type from 'typebox'

export const Uuid = Type.String({ format: 'uuid' })
export const Instant = Type.String({ format: 'date-time' })
export const OptionalInstant = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  format: 'date-time',
})
export const OptionalNumber = Type.Unsafe<number | null>({ type: ['number', 'null'] })
