// Where the console shows what was found.

import type { SearchHit } from '../api/types.ts'

export function pathOfHit(hit: SearchHit): string {
  const { kind, id, clientId } = hit
  switch (kind) {
    case 'payment':
      return `/payments/${id}`
    case 'delivery':
      return `/deliveries/${id}`
    case 'endpoint':
      return `/endpoints/${id}`
    case 'client':
      return `/clients/${id}`
    case 'account':
      // A client has its accounts in the list of its endpoints.
      return clientId ? `/clients/${clientId}` : '/endpoints'
    case 'event':
      // Only the operator's deliveries can be narrowed to one event.
      return clientId ? `/deliveries?eventId=${id}` : `/payments/${hit.paymentId}`
    case 'job':
      return `/deliveries?job=${id}`
  }
}
