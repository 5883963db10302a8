// What is sealed for an endpoint, and what it is bound to: its row, its column, and the address that it is sent to. A row
// whose address was changed without the master key does not open, and so nothing is sent for it.

import type { EndpointOauth2 } from '../../core/tokens/endpoint-oauth2.ts'
import { isBound, type SealedField, type Sealer } from './sealing.ts'

export const SEALED_ENDPOINT_COLUMNS = [
  'shared_key',
  'previous_key',
  'header_value',
  'oauth2_secret',
] as const
export type SealedEndpointColumn = (typeof SEALED_ENDPOINT_COLUMNS)[number]

/** The keys and the header's value go to the address of the endpoint. */
export function sealedFor(
  column: Exclude<SealedEndpointColumn, 'oauth2_secret'>,
  { id, url }: { id: string; url: string },
): SealedField {
  return { column: `endpoints.${column}`, row: id, address: url }
}

/**
 * The secret goes to the token endpoint, as this client's. Where there is none, because a key or the certificate is the
 * proof, an empty one is sealed: it is what says that this is the token endpoint.
 */
export function tokenSecretFor(
  id: string,
  { tokenUrl, clientId }: Pick<EndpointOauth2, 'tokenUrl' | 'clientId'>,
): SealedField {
  return { column: 'endpoints.oauth2_secret', row: id, address: `${tokenUrl}\0${clientId}` }
}

/** What of a row is sealed, and for where. */
export interface SealedEndpoint extends Record<SealedEndpointColumn, Buffer | null> {
  id: string
  url: string
  oauth2: Pick<EndpointOauth2, 'tokenUrl' | 'clientId'> | null
}

export function fieldOf(
  row: Omit<SealedEndpoint, SealedEndpointColumn>,
  column: SealedEndpointColumn,
): SealedField {
  if (column !== 'oauth2_secret') return sealedFor(column, row)
  if (row.oauth2 === null) throw new Error('the secret of no token endpoint')
  return tokenSecretFor(row.id, row.oauth2)
}

/**
 * Opens what a row has. Of a row whose key is bound all has to be: it was written so, and what is not is of another time.
 * Throws where one does not open, or is missing.
 */
export function openEndpoint(
  sealer: Sealer,
  row: SealedEndpoint,
): (column: SealedEndpointColumn) => Buffer | null {
  const mustBeBound =
    sealer.binding === 'done' || (row.shared_key !== null && isBound(row.shared_key))
  if (mustBeBound && row.oauth2 !== null && row.oauth2_secret === null) {
    throw new Error('a token endpoint that nothing binds')
  }
  return (column) => {
    const sealed = row[column]
    if (sealed === null) return null
    if (mustBeBound && !isBound(sealed)) throw new Error('sealed without its address')
    return sealer.open(sealed, fieldOf(row, column))
  }
}
