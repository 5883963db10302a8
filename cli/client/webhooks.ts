// `paybell webhooks …`: what an integrator does, with a client's credentials.

import type { Command } from 'commander'
import type { Endpoint, Page } from '../../sdk/src/wire/types.ts'
import type { Api } from '../basics/api.ts'
import { type Call, calling, family } from '../basics/command.ts'
import { chooseSharedKey, type NewKeyOptions, withNewKey } from '../receiving/shared-key.ts'
import {
  type SettingsOptions,
  settingFields,
  toSettings,
  withSettings,
} from './endpoint-settings.ts'
import { clientCommand, type EndpointDoor, endpointCommands } from './own-endpoints.ts'
import { importWebhooks, withImport } from './webhooks-import.ts'

const WEBHOOKS: EndpointDoor = {
  family: 'webhooks',
  noun: 'webhook',
  path: '/v1/webhooks',
  hasAccount: true,
  whenEmpty: 'No webhooks. Register one: paybell webhooks register URL --generate-key',
}

export function webhooksCommand(): Command {
  return family(
    'webhooks',
    "Register, import, change, list, test, retry and delete webhooks, with a client's credentials.",
    [register(), importFile(), ...endpointCommands(WEBHOOKS)],
  )
}

function register(): Command {
  return withSettings(
    withNewKey(
      clientCommand('register', 'Register an address for the callbacks of an account.', [
        'paybell webhooks register https://shop.example.com/hooks --generate-key',
        'paybell webhooks register http://127.0.0.1:8099/ --shared-key-file key.txt',
        'paybell webhooks register https://shop.example.com/hooks --generate-key --events payment.paid',
      ]),
    ),
  )
    .argument('<url>', 'address that takes the callbacks')
    .action(calling(registerWebhook))
}

function importFile(): Command {
  return withImport(
    clientCommand('import', 'Register the endpoints of a CSV or JSON file.', [
      'paybell webhooks import endpoints.csv --dry-run',
      'paybell webhooks import endpoints.json',
    ]),
  ).action(calling(importWebhooks))
}

async function registerWebhook(
  call: Call<NewKeyOptions & SettingsOptions>,
  callbackUrl: string,
): Promise<void> {
  const { generateKey } = call.options
  const sharedKey = await chooseSharedKey(call)
  const api = await call.target.client()
  const accountId = await call.target.accountId()
  const body = { callbackUrl, sharedKey, ...toSettings(call.options) }
  await api.post('/v1/webhooks/register', body, { accountId })
  // Printed before the next call, which may fail or be broken off: the key signs already, and is not shown again.
  if (generateKey && !call.isJson) {
    call.fields([['Shared key', sharedKey]])
    call.note('Keep the shared key: it is not shown again.')
  }
  let webhook: Endpoint | null = null
  try {
    // The answer is empty, by the interface; the list tells the id and the name of the header.
    webhook = await findWebhook(api, accountId, callbackUrl)
  } finally {
    if (call.isJson && generateKey) call.print(JSON.stringify({ ...webhook, sharedKey }))
  }
  if (call.isJson && !generateKey) call.print(JSON.stringify(webhook))
  if (call.isJson) return
  call.fields([
    ['Webhook', webhook?.id],
    ['Address', webhook?.endpointUrl ?? callbackUrl],
    ['Signature', webhook ? `${webhook.hmacHeaderName}, ${webhook.algorithm}` : null],
    ['Status', webhook?.status],
    ...(webhook?.deliver === undefined ? [] : settingFields(webhook)),
  ])
  if (webhook) call.note(`Try it: paybell webhooks test ${webhook.id}`)
}

async function findWebhook(
  api: Api,
  accountId: string,
  callbackUrl: string,
): Promise<Endpoint | null> {
  const wanted = new URL(callbackUrl).href
  for (let page = 0; ; page++) {
    const answer = await api.call('GET', '/v1/webhooks/list', {
      accountId,
      query: { page, size: 100 },
    })
    const body = answer.json<Page<Endpoint>>()
    const found = body.content.find(({ endpointUrl }) => new URL(endpointUrl).href === wanted)
    if (found) return found
    if (page + 1 >= body.totalPages) return null
  }
}
