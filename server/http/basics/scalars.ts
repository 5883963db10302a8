// The smallest pieces of schemas: an id, an instant, and what may be null instead.

import { SEARCH_CHARACTERS_MAX } from '../../core/asking/delivery-filter.ts'
import { Type } from './type.ts'

export const Uuid = Type.String({ format: 'uuid' })
export const Instant = Type.String({ format: 'date-time' })
/** RFC 4648 §4, padded, without blanks or stray bits. */
export const BASE64_PATTERN =
  '^(?:[A-Za-z\\d+/]{4})*(?:[A-Za-z\\d+/][AQgw]==|[A-Za-z\\d+/]{2}[AEIMQUYcgkosw048]=)?$'
/** Of a text that is looked for. */
export const SearchText = { format: 'text', maxLength: SEARCH_CHARACTERS_MAX }

/** What may be null instead; where that is not plain, a description says when. */
const orNull =
  <T>(type: string, format: { format?: string } = {}) =>
  (description?: string) =>
    Type.Unsafe<T | null>({
      type: [type, 'null'],
      ...format,
      ...(description === undefined ? {} : { description }),
    })

export const TextOrNull = orNull<string>('string')
export const InstantOrNull = orNull<string>('string', { format: 'date-time' })
export const UuidOrNull = orNull<string>('string', { format: 'uuid' })
export const IntegerOrNull = orNull<number>('integer')
export const NumberOrNull = orNull<number>('number')

/** One of these words, or null. */
export function WordOrNull<const W extends string>(words: readonly W[], description?: string) {
  return Type.Unsafe<W | null>({
    type: ['string', 'null'],
    enum: [...words, null],
    ...(description === undefined ? {} : { description }),
  })
}
