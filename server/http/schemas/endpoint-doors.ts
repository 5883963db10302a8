// The doors through which a client makes endpoints, and the path of each kind: what can be done to any
// endpoint (test, recover, verify, check) has a route at each.

import type { EndpointKind } from '../../core/delivery/endpoint.ts'

export interface EndpointDoor {
  kind: EndpointKind
  /** The path of the list; one endpoint has its id after a slash. */
  path: string
  /** As in "getWebhook". */
  name: string
  tags: readonly string[]
}

export const WEBHOOKS: EndpointDoor = {
  kind: 'webhook',
  path: '/v1/webhooks',
  name: 'Webhook',
  tags: ['Webhook endpoints'],
}

export const SUBSCRIPTIONS: EndpointDoor = {
  kind: 'subscription',
  path: '/api/v1/payments/subscriptions',
  name: 'Subscription',
  tags: ['Subscriptions'],
}

export const LISTENERS: EndpointDoor = {
  kind: 'listener',
  path: '/v1/listeners',
  name: 'Listener',
  tags: ['Listeners'],
}

export const ENDPOINT_DOORS = [WEBHOOKS, SUBSCRIPTIONS, LISTENERS] as const
