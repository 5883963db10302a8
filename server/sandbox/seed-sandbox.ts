// Seeds a new sandbox with data to look at: a separate client, "Demo shop", whose payment was created and then
// changed, and whose receiver failed twice before it accepted. The client whose credentials newcomers get is
// never touched.

import { checkCallbackUrl } from '../core/network/callback-url.ts'
import type { PaymentWrite } from '../core/payments/payment.ts'
import { recordingOn } from '../operations/accepting/postgres-payment-store.ts'
import { acceptPayments } from '../operations/accepting/record-payments.ts'
import { AccountDirectory } from '../operations/access/account-directory.ts'
import { onboardClient } from '../operations/clients/onboard-client.ts'
import { openAccount } from '../operations/clients/open-account.ts'
import { saveEndpoint } from '../operations/endpoints/save-endpoint.ts'
import type { Deps } from '../operations/shared/deps.ts'
import { DEFAULT_SCRIPT, type DemoReceivers } from './demo-receivers.ts'

const RECEIVER = 'demo'
const SHARED_KEY = 'demo-shared-key'

/** False when callbacks may not reach the sandbox's own address: then nothing can be seeded. */
export async function seedSandbox(
  deps: Deps,
  receivers: DemoReceivers,
  baseUrl: string,
): Promise<boolean> {
  const url = `${baseUrl}/sandbox/receiver/${RECEIVER}`
  if (!checkCallbackUrl(url, deps.targets).ok) return false
  receivers.write(RECEIVER, {
    ...DEFAULT_SCRIPT,
    script: [500, 500, 200],
    sharedKey: SHARED_KEY,
  })
  const { client } = await onboardClient(deps, 'Demo shop')
  const account = await openAccount(deps, client.id, 'Demo account')
  await saveEndpoint(deps, {
    clientKey: client.clientKey,
    kind: 'webhook',
    accountId: account.id,
    url,
    href: new URL(url).href,
    sharedKey: SHARED_KEY,
    header: null,
  })
  const recording = recordingOn(deps, new AccountDirectory(deps.pool))
  const payment = demoPayment(deps.newId)
  for (const state of ['PENDING_APPROVAL', 'DUE'] as const) {
    const write = { ...payment, status: { state, reason: null } }
    await acceptPayments(recording, deps.engine, [{ accountId: account.id, write }])
  }
  return true
}

function demoPayment(newId: () => string): PaymentWrite {
  return {
    id: newId(),
    status: null,
    createdAt: null,
    completedAt: null,
    externalId: 'DEMO-1001',
    quoteId: newId(),
    amount: { amount: '1250.00', currency: 'EUR' },
    reference: 'Invoice 1001',
    purposeOfPayment: 'COMPUTER_SERVICES',
    beneficiaryId: newId(),
    documentReference: null,
    document: null,
    version: null,
  }
}
