// Registers an address for the payments of one account; the same address again rotates its key.

import type { SettingsChange } from '../../core/delivery/endpoint-settings.ts'
import type { Caller } from '../access/verify-token.ts'
import type { Deps } from '../shared/deps.ts'
import { saveEndpoint } from './save-endpoint.ts'

export interface WebhookRequest {
  accountId: string
  url: string
  href: string
  sharedKey: string
  settings: SettingsChange
}

export async function registerWebhook(
  deps: Deps,
  caller: Caller,
  request: WebhookRequest,
): Promise<void> {
  const { clientKey } = caller
  await saveEndpoint(deps, { ...request, clientKey, kind: 'webhook', header: null })
}
