// A client reaches an endpoint through the door that it was made by.

import { type ApiProblem, api } from '../../api/client.ts'
import type { EndpointKind } from '../../api/types.ts'

export const DOORS: Readonly<Record<EndpointKind, string>> = {
  webhook: '/v1/webhooks',
  subscription: '/api/v1/payments/subscriptions',
  listener: '/v1/listeners',
}

export function ownEndpointPath(kind: EndpointKind, id: string): string {
  return `${DOORS[kind]}/${encodeURIComponent(id)}`
}

/** For an endpoint of which only id and address are known: what is no listener and no webhook is a subscription. */
export async function findOwnPath(id: string, endpointUrl: string): Promise<string> {
  if (endpointUrl.startsWith('listener:')) return ownEndpointPath('listener', id)
  const webhook = ownEndpointPath('webhook', id)
  return api.get(webhook).then(
    () => webhook,
    (problem: ApiProblem) => {
      if (problem.status !== 404) throw problem
      return ownEndpointPath('subscription', id)
    },
  )
}

/** 32 random bytes as text: a key that cannot be guessed. */
export function newSharedKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')
}
