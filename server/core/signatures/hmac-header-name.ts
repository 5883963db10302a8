// The name of the header that carries the HMAC, where an endpoint chooses its own (decisions, What an endpoint
// hears §5): for receivers that were written for another sender and cannot be changed.

import { HMAC_HEADER } from './callback-headers.ts'

export const HMAC_HEADER_NAME_PATTERN = '^X-[A-Za-z0-9-]{1,60}$'
const NAME = new RegExp(HMAC_HEADER_NAME_PATTERN)

/** Our other headers, those to come included; what proxies rewrite; and what opens a cloud's metadata service. */
const REFUSED_PREFIXES = ['x-paybell-', 'x-forwarded-', 'x-aws-', 'x-goog', 'x-ms-', 'x-azure-']

/** Null when the HMAC may be sent under this name. */
export function checkHmacHeaderName(text: string): { code: string; detail: string } | null {
  if (!NAME.test(text)) {
    return {
      code: 'invalid-header-name',
      detail: 'Begin with "X-", then use 1 to 60 letters, digits and hyphens.',
    }
  }
  const name = text.toLowerCase()
  if (name === HMAC_HEADER.toLowerCase()) return null
  return REFUSED_PREFIXES.some((prefix) => name.startsWith(prefix))
    ? {
        code: 'forbidden-header',
        detail:
          'This header is used for something else, by Paybell or on the way to you; choose another name.',
      }
    : null
}

/** Many receivers fold `_` and `-` into one, and all fold the case. */
export function isSameHeader(one: string, other: string): boolean {
  const folded = (name: string) => name.toLowerCase().replaceAll('_', '-')
  return folded(one) === folded(other)
}
