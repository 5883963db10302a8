// What lists of endpoints can be sorted by; with a minus, the other way round.

export const ENDPOINT_ORDERS = [
  'createdAt',
  '-createdAt',
  'endpointUrl',
  '-endpointUrl',
  'failingSince',
  '-failingSince',
] as const
export type EndpointOrder = (typeof ENDPOINT_ORDERS)[number]
