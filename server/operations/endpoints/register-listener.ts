// Makes a listener of one account, or finds the one with this name; another key rotates, as for a webhook.
// A new listener begins paused, because no client listens yet: the first request for a callback starts it.

import type { Endpoint } from '../../core/delivery/endpoint.ts'
import { toListenerUrl } from '../../core/delivery/listener.ts'
import { findEndpoint, saveStatus } from '../../store/endpoints/endpoints.ts'
import { insertListener } from '../../store/endpoints/listeners.ts'
import type { Caller } from '../access/verify-token.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound } from '../shared/service-errors.ts'
import { saveEndpoint } from './save-endpoint.ts'

export interface ListenerRequest {
  accountId: string
  name: string
  sharedKey: string
}

export async function registerListener(
  deps: Deps,
  { clientKey }: Caller,
  { accountId, name, sharedKey }: ListenerRequest,
): Promise<{ listener: Endpoint; isNew: boolean }> {
  const url = toListenerUrl(name)
  let isNew = false
  const listenerId = await saveEndpoint(deps, {
    clientKey,
    kind: 'listener',
    accountId,
    url,
    href: url,
    sharedKey,
    header: null,
    async onInsert(db, id, now) {
      isNew = true
      await insertListener(db, { clientKey, listenerId: id }, now)
      await saveStatus(db, clientKey, id, { status: 'PAUSED', inactiveSince: now }, now)
    },
  })
  const scope = { clientKey, kind: 'listener', accountId } as const
  const listener = await findEndpoint(deps.pool, scope, listenerId)
  // It was deleted after it was saved.
  if (listener === null) throw notFound()
  return { listener, isNew }
}
