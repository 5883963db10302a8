// The playground's webhook, which leads to a receiver of this very sandbox. If there is none, it is made
// the way an integrator would: a client, an account, a token, a registration.

import { api } from '../../api/client.ts'
import { useRead } from '../../api/hooks.ts'
import type { Account, Endpoint, Page } from '../../api/types.ts'
import { demoReceiverName, receiverPath } from '../endpoint/demo-receiver.tsx'
import { newSharedKey } from '../endpoint/doors.ts'

export interface Stage {
  endpointId: string
  accountId: string
  clientId: string
  clientName: string | undefined
  receiver: string
}

const WEBHOOKS = '/operator/v1/endpoints?kind=webhook&size=100'
const RECEIVER = 'playground'

export function useStages(): { stages: readonly Stage[] | undefined; error: Error | null } {
  const { data, error } = useRead<Page<Endpoint>>(WEBHOOKS)
  return { stages: data?.content.flatMap(toStage), error }
}

function toStage({ id, endpointUrl, accountId, clientId, clientName }: Endpoint): Stage[] {
  const receiver = demoReceiverName(endpointUrl)
  if (receiver === null || !accountId || !clientId) return []
  return [{ endpointId: id, accountId, clientId, clientName, receiver }]
}

export async function makeStage(): Promise<void> {
  const client = await api.post<{ clientId: string; clientSecret: string }>(
    '/operator/v1/clients',
    { name: 'Playground shop' },
  )
  const account = await api.post<Account>(`/operator/v1/clients/${client.clientId}/accounts`, {
    name: 'Playground account',
  })
  const { access_token: token } = await api.post<{ access_token: string }>('/auth/token', {
    clientId: client.clientId,
    clientSecret: client.clientSecret,
  })
  const sharedKey = newSharedKey()
  await api.put(receiverPath(RECEIVER), { script: [200], sharedKey })
  await api.post(
    '/v1/webhooks/register',
    { callbackUrl: window.location.origin + receiverPath(RECEIVER), sharedKey },
    { accountId: account.id, headers: { authorization: `Bearer ${token}` } },
  )
}
