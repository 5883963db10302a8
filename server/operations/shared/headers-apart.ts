// An endpoint's own header and the header of its HMAC may not have one name: a receiver would get two values, or
// one of them.

import type { EndpointSettings } from '../../core/delivery/endpoint-settings.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import { isSameHeader } from '../../core/signatures/hmac-header-name.ts'

export function assertHeadersApart(
  settings: EndpointSettings | null,
  headerName: string | null,
): void {
  if (settings === null || headerName === null) return
  if (!isSameHeader(settings.hmacHeaderName, headerName)) return
  const detail = 'This is the name of the extra header (headerKey) as well; choose another name.'
  throw new ServiceError('invalid-fields', 'One field of the body does not conform.', {
    errors: [{ pointer: '/hmacHeaderName', code: 'header-collides', detail }],
  })
}
