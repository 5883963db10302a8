// How an endpoint's receiver and the service prove themselves to each other (decisions, Reaching a receiver that asks
// who calls): which certificate the service shows, and whose word it takes for the receiver's.

import { createHash } from 'node:crypto'

/** Endpoints that ask for this follow when another certificate becomes the default. */
export const DEFAULT_CERTIFICATE = 'default'
export const AUTHORITIES_MAX = 10

export interface EndpointTls {
  /** The id of one of the service's certificates, or `default`. Null: none is shown. */
  clientCertificate: string | null
  /** PEM, one each, in place of the public ones. Null: those. */
  certificateAuthorities: readonly string[] | null
}

/** What is asked for; null when that is what happens anyway. */
export function toEndpointTls(tls: EndpointTls): EndpointTls | null {
  return tls.clientCertificate === null && tls.certificateAuthorities === null ? null : tls
}

/** One line, for the trail and for messages. */
export function tlsText(tls: EndpointTls | null): string {
  if (tls === null) return ''
  const { clientCertificate, certificateAuthorities } = tls
  const parts = [
    clientCertificate === null ? '' : `certificate ${clientCertificate}`,
    certificateAuthorities === null
      ? ''
      : `${certificateAuthorities.length} authorities ${digestOf(certificateAuthorities).slice(0, 16)}`,
  ]
  return parts.filter((part) => part !== '').join(', ')
}

/** The same authorities have the same, and others another. */
export function digestOf(authorities: readonly string[]): string {
  return createHash('sha256').update(authorities.join('\0')).digest('hex')
}
