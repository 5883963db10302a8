// One endpoint, through the operator's API or the client's. A client's page that only knows the id tries
// webhooks, subscriptions and listeners one after the other; none of them shows another client's.

import { useRead } from '../../api/hooks.ts'
import { useSession } from '../../api/session.ts'
import type { Endpoint, EndpointKind, Page } from '../../api/types.ts'
import { useLocation } from '../../router.ts'
import { DOORS, ownEndpointPath } from './doors.ts'

const READ_EVERY_MS = 3_000

export function useEndpoint(id: string) {
  const isOperator = useSession().kind === 'operator'
  const all = useRead<Endpoint>(`/operator/v1/endpoints/${encodeURIComponent(id)}`, {
    isEnabled: isOperator,
    everyMs: READ_EVERY_MS,
  })
  const { kind, own } = useOwnEndpoint(id, !isOperator)
  const accountId = useOwnAccount(id, !isOperator && kind === 'webhook')
  if (isOperator) return { endpoint: all.data, error: all.error, path: null }
  return {
    endpoint: own.data
      ? { ...own.data, kind, accountId: own.data.accountId ?? accountId }
      : undefined,
    error: own.error,
    /** Its path in the client's API. */
    path: ownEndpointPath(kind, id),
  }
}

function useOwnEndpoint(id: string, isWanted: boolean) {
  const named = useLocation().query.get('kind')
  const isNamed = named !== null && named in DOORS
  const isTried = (kind: EndpointKind) => isWanted && (!isNamed || named === kind)
  const webhook = useRead<Endpoint>(ownEndpointPath('webhook', id), {
    isEnabled: isTried('webhook'),
    everyMs: READ_EVERY_MS,
  })
  const isNoWebhook = isNamed || webhook.error?.status === 404
  const subscription = useRead<Endpoint>(ownEndpointPath('subscription', id), {
    isEnabled: isTried('subscription') && isNoWebhook,
    everyMs: READ_EVERY_MS,
  })
  const isNoSubscription = isNamed || subscription.error?.status === 404
  const listener = useRead<Endpoint>(ownEndpointPath('listener', id), {
    isEnabled: isTried('listener') && isNoSubscription,
    everyMs: READ_EVERY_MS,
  })
  const reads = { webhook, subscription, listener }
  const untold: EndpointKind = !isNoWebhook
    ? 'webhook'
    : !isNoSubscription
      ? 'subscription'
      : 'listener'
  const kind = isNamed ? (named as EndpointKind) : untold
  return { kind, own: reads[kind] }
}

/** A webhook does not name its account itself; the address of this page may, and the list does. */
function useOwnAccount(id: string, isWanted: boolean): string | null {
  const given = useLocation().query.get('account')
  const { data } = useRead<Page<Endpoint>>(`${DOORS.webhook}?size=100`, {
    isEnabled: isWanted && given === null,
  })
  return given ?? data?.content.find((webhook) => webhook.id === id)?.accountId ?? null
}
