// Makes the links that callbacks carry in place of a file (core/document-link).

import { DOCUMENTS_PATH, linkedText } from '../../core/document-link.ts'
import type { Sealer } from '../../store/sealing.ts'

export type DocumentLinks = (eventId: string, endpointId: string) => string

/** Throws before the service knows its address: an attempt then waits, instead of sending a link that leads nowhere. */
export function documentLinks(
  sealer: Pick<Sealer, 'signLink'>,
  baseUrl: () => string,
): DocumentLinks {
  return (eventId, endpointId) => {
    const base = baseUrl()
    if (base === '') throw new Error('the address of the service is not known yet')
    const text = linkedText({ eventId, endpointId })
    return `${base}${DOCUMENTS_PATH}/${text}.${sealer.signLink(text)}`
  }
}
