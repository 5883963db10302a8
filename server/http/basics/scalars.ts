// The smallest pieces of schemas: an id, an instant, and what may be null instead.

import { SEARCH_CHARACTERS_MAX } from '../../core/asking/delivery-filter.ts'
import { Type } from './type.ts'

export const Uuid = Type.String({ format: 'uuid' })
export const Instant = Type.String({ format: 'date-time' })
export const OptionalInstant = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  format: 'date-time',
})
/** RFC 4648 §4, padded, without blanks or stray bits. */
export const BASE64_PATTERN =
  '^(?:[A-Za-z\\d+/]{4})*(?:[A-Za-z\\d+/][AQgw]==|[A-Za-z\\d+/]{2}[AEIMQUYcgkosw048]=)?$'
export const OptionalNumber = Type.Unsafe<number | null>({ type: ['number', 'null'] })
/** Of a text that is looked for. */
export const SearchText = { format: 'text', maxLength: SEARCH_CHARACTERS_MAX }
