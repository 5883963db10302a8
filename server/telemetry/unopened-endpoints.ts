// Says aloud that nothing is sent for an endpoint because its secrets do not open: its address was changed in the database
// by another hand, or a master key is missing. Each time it is read, which is seldom: what was read is remembered.

import type { DeliveryStore } from '../delivery/seams/delivery-store.ts'

interface Log {
  error(details: object, message: string): void
}

export function reportingUnopened(
  store: DeliveryStore,
  count: (endpoints: number) => void,
  log: Log,
): DeliveryStore {
  return {
    ...store,
    async readEndpoints(keys) {
      const endpoints = await store.readEndpoints(keys)
      for (const { id: endpointId, clientKey, isActive, secrets } of endpoints) {
        if (secrets !== null || !isActive) continue
        count(1)
        log.error({ clientKey, endpointId }, 'endpoints.not-opened')
      }
      return endpoints
    },
  }
}
