// The doors through which a client makes endpoints, and where each kind is found: what can be done to
// any of them (test, recover, verify, check) is offered at each.

export const ENDPOINT_DOORS = [
  { kind: 'webhook', path: '/v1/webhooks', name: 'Webhook', tag: 'Webhooks' },
  {
    kind: 'subscription',
    path: '/api/v1/payments/subscriptions',
    name: 'Subscription',
    tag: 'Subscriptions',
  },
  { kind: 'listener', path: '/v1/listeners', name: 'Listener', tag: 'Listeners' },
] as const

export type EndpointDoorEntry = (typeof ENDPOINT_DOORS)[number]
