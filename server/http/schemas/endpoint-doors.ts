// The doors through which a client makes endpoints, and the path of each kind: what can be done to any
// endpoint (test, recover, verify, check) has a route at each.

export const ENDPOINT_DOORS = [
  { kind: 'webhook', path: '/v1/webhooks', name: 'Webhook', tag: 'Webhook endpoints' },
  {
    kind: 'subscription',
    path: '/api/v1/payments/subscriptions',
    name: 'Subscription',
    tag: 'Subscriptions',
  },
  { kind: 'listener', path: '/v1/listeners', name: 'Listener', tag: 'Listeners' },
] as const

export type EndpointDoorEntry = (typeof ENDPOINT_DOORS)[number]
