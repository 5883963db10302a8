// `paybell subscriptions …`: one address for every payment of a client, whatever its account.

import type { Command } from 'commander'
import { type Call, calling, family } from '../basics/command.ts'
import { gather } from '../basics/parse.ts'
import { UsageError } from '../basics/run.ts'
import { chooseSharedKey, type NewKeyOptions, withNewKey } from '../receiving/shared-key.ts'
import { type SettingsOptions, toSettings, withSettings } from './endpoint-settings.ts'
import { clientCommand, type EndpointDoor, endpointCommands } from './own-endpoints.ts'

const SUBSCRIPTIONS: EndpointDoor = {
  family: 'subscriptions',
  noun: 'subscription',
  path: '/api/v1/payments/subscriptions',
  hasAccount: false,
  whenEmpty: 'No subscriptions. Make one: paybell subscriptions create URL --generate-key',
}

export function subscriptionsCommand(): Command {
  return family(
    'subscriptions',
    "Create, list, test, retry, pause and delete subscriptions, with a client's credentials.",
    [create(), ...endpointCommands(SUBSCRIPTIONS)],
  )
}

interface CreateOptions extends NewKeyOptions, SettingsOptions {
  header?: string[]
}

function create(): Command {
  return withSettings(
    withNewKey(
      clientCommand('create', 'Subscribe an address to every payment of yours.', [
        'paybell subscriptions create https://shop.example.com/hooks --generate-key',
        "paybell subscriptions create URL --shared-key-file key.txt --header 'Authorization: Basic eA=='",
      ]),
    ),
  )
    .argument('<url>', 'address that takes the callbacks')
    .option('--header <name: value>', 'a header that every callback carries', gather)
    .action(calling(createSubscription))
}

async function createSubscription(call: Call<CreateOptions>, callbackUrl: string): Promise<void> {
  const header = readHeader(call.options.header)
  const sharedKey = await chooseSharedKey(call)
  const { generateKey } = call.options
  const api = await call.target.client()
  const body = { callbackUrl, sharedKey, ...header, ...toSettings(call.options) }
  const answer = await api.post('/api/v1/payments/subscribe', body)
  const id = answer.headers.get('location')?.split('/').at(-1) ?? null
  if (call.isJson) {
    call.print(JSON.stringify({ id, callbackUrl, ...(generateKey ? { sharedKey } : {}) }))
    return
  }
  call.fields([
    ['Subscription', id],
    ['Address', callbackUrl],
    ...(generateKey ? ([['Shared key', sharedKey]] as const) : []),
  ])
  if (generateKey) call.note('Keep the shared key: it is not shown again.')
  if (id !== null) call.note(`Try it: paybell subscriptions test ${id}`)
}

function readHeader(given: readonly string[] = []): { headerKey?: string; headerValue?: string } {
  if (given.length > 1) throw new UsageError('give one --header at most.')
  const [text] = given
  if (text === undefined) return {}
  const at = text.indexOf(':')
  if (at < 1) throw new UsageError("write the header as 'Name: value'.")
  return { headerKey: text.slice(0, at).trim(), headerValue: text.slice(at + 1).trim() }
}
