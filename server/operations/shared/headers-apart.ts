// An endpoint's own header, the header of its HMAC and that of its token may not have one name: a receiver would get two
// values, or one of them.

import type { EndpointSettings } from '../../core/delivery/endpoint-settings.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import { countInvalid } from '../../core/plain/invalid-count.ts'
import { isSameHeader } from '../../core/signatures/hmac-header-name.ts'

export function assertHeadersApart(
  settings: EndpointSettings | null,
  headerName: string | null,
): void {
  if (settings === null || headerName === null) return
  if (isSameHeader(settings.hmacHeaderName, headerName)) {
    throw collides(
      '/hmacHeaderName',
      'This is the name of the extra header (headerKey) as well; choose another name.',
    )
  }
  if (settings.oauth2 !== null && isSameHeader('authorization', headerName)) {
    throw collides(
      '/oauth2',
      'The token is sent as Authorization, which is the extra header (headerKey) as well; give one of the two.',
    )
  }
}

function collides(pointer: string, detail: string): ServiceError {
  return new ServiceError('invalid-fields', countInvalid(1, 'field', ' of the body'), {
    errors: [{ pointer, code: 'header-collides', detail }],
  })
}
