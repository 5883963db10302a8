// What lists of endpoints can be narrowed to and sorted by: the same for the operator and for clients.

import { ENDPOINT_ORDERS } from '../../core/asking/endpoint-orders.ts'
import { ENDPOINT_STATUSES, type EndpointStatus } from '../../core/delivery/endpoint.ts'
import type { EndpointFilter } from '../../operations/endpoints/listed-endpoints.ts'
import { SearchText } from '../basics/scalars.ts'
import { Type } from '../basics/type.ts'

export const ENDPOINT_KINDS = ['subscription', 'webhook', 'listener'] as const
export type ListedKind = (typeof ENDPOINT_KINDS)[number]
export const KindSchema = Type.Enum([...ENDPOINT_KINDS])

export const EndpointFilterFields = {
  status: Type.Optional(Type.Enum([...ENDPOINT_STATUSES])),
  failing: Type.Optional(Type.Boolean({ description: 'Whether its last attempts have failed.' })),
  q: Type.Optional(
    Type.String({
      ...SearchText,
      description: 'Words of its address, each perhaps only begun; or its id.',
    }),
  ),
  sort: Type.Optional(
    Type.Enum([...ENDPOINT_ORDERS], {
      default: 'createdAt',
      description:
        'What they are sorted by; with a minus, the other way round. By `failingSince`, those that do not fail come last.',
    }),
  ),
}

export function readEndpointFilter({
  status,
  failing,
  q,
  sort,
}: {
  status?: EndpointStatus
  failing?: boolean
  q?: string
  sort?: EndpointFilter['order']
}) {
  return {
    status: status ?? null,
    isFailing: failing ?? null,
    search: q ?? null,
    order: sort ?? ('createdAt' as const),
  }
}
